"""calib.py - colosim calib: experiments made, scored, and learned from; what it says of bad input."""
import csv
import io
import json
import os
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).parents[2]
SHARED = pathlib.Path(os.environ.get("COLOSIM_SHARED", ROOT.parent / "shared"))
FEW = ["--set", "experiments.n_tt=40", "--set", "experiments.n_ti=40", "--set",
       "experiments.n_ii=40"]
QUICK = ["--quiet", "--networks", "2", "--set", "train.epochs=4", "--set", "train.steps=1"]
KINDS = ["T+T", "T+I", "I+I", "all"]


def made(lab, name="syn.csv", *more):
    """A small set of experiments; its path."""
    done = lab.run("calib", "synth", "--quiet", *FEW, *more, "-o", lab.path(name))
    assert done.code == 0, done.shown()
    return lab.path(name)


def case_synth(lab, tap):
    """calib synth writes two rows an experiment, the second with the sides swapped"""
    done = lab.run("calib", "synth", *FEW)
    tap.equal("exit code", done.code, 0)
    tap.equal("says what it made", done.err, "240 rows of 120 experiments\n")
    rows = list(csv.DictReader(io.StringIO(done.out.decode())))
    tap.equal("rows", len(rows), 240)
    swapped = all(first["experiment"] == second["experiment"] and first[name + "_i"] ==
                  second[name + "_j"] for first, second in zip(rows[::2], rows[1::2])
                  for name in ("sm", "fb_mib", "T", "isl", "step_s"))
    tap.ok("the second row of each is the first with its sides swapped", swapped)
    again = lab.run("calib", "synth", "--quiet", *FEW)
    tap.equal("equal seeds, equal bytes", again.out, done.out)
    tap.equal("nothing on stderr with --quiet", again.err, "")
    other = lab.run("calib", "synth", "--quiet", "--seed", "2", *FEW)
    tap.ok("another seed, another set", other.out != done.out)


def case_score(lab, tap):
    """calib score prints the table, and the same numbers as JSON, at any number of threads"""
    pairs = made(lab)
    table = lab.run("calib", "score", "--pairs", pairs, "--model", "dnn,linear", *QUICK)
    tap.equal("exit code", table.code, 0)
    tap.equal("nothing on stderr", table.err, "")
    lines = table.out.decode().splitlines()
    tap.ok("which rows, folds and seed", lines[0].startswith(
        "240 rows, 120 experiments, 12 workloads; 5 folds by experiment, seed 1"), lines[0])
    tap.equal("the predictors asked for, then the paper's", [line.split()[0] for line in lines[3:6]],
              ["dnn", "linear", "dnn,"])
    one, two = (lab.run("calib", "score", "--pairs", pairs, "--model", "dnn,linear", "--json", "-j",
                        threads, *QUICK).out for threads in ("1", "3"))
    tap.equal("threads change nothing", one, two)
    said = json.loads(one)
    tap.equal("kinds of pairs", list(said["models"]["dnn"]), KINDS)
    cells = said["models"]["linear"]
    tap.equal("rows of each", [cells[kind]["rows"] for kind in KINDS], [80, 80, 80, 240])
    tap.ok("the table's figure is the JSON's",
           f"{cells['all']['mape_pct']:.2f}" in lines[4].split(), lines[4])


def case_score_by(lab, tap):
    """calib score leaves out pairs of workloads, or each workload in turn"""
    pairs = made(lab)
    for by, folds, rows in (("pair", 5, 240), ("workload", 12, None)):
        done = lab.run("calib", "score", "--pairs", pairs, "--by", by, "--model", "linear", "--json",
                       "--quiet")
        said = json.loads(done.out)
        tap.equal(f"folds by {by}", said["folds"], folds)
        n = said["models"]["linear"]["all"]["rows"]
        tap.ok(f"rows by {by}", n == rows if rows else 240 < n <= 480, n)


def case_h200(lab, tap):
    """The line of interfaces.md: calib score --pairs job_pairs.csv --solo job_solo.csv --json"""
    for name in ("job_pairs.csv", "job_solo.csv"):
        if not (SHARED / "data/h200" / name).exists():
            tap.skip("measured pairs", "no shared data; set COLOSIM_SHARED")
            return
        os.symlink(SHARED / "data/h200" / name, lab.path(name))
    done = lab.run("calib", "score", "--pairs", "job_pairs.csv", "--solo", "job_solo.csv", "--json",
                   "--model", "linear,queueing,dnn+physics", *QUICK)
    tap.equal("exit code", done.code, 0)
    said = json.loads(done.out)
    tap.equal("552 values", said["models"]["queueing"]["all"]["rows"], 552)
    tap.ok("the physics is within 5.5 % of retained rates",
           said["models"]["queueing"]["all"]["retained_mape_pct"] <= 5.5, said)
    catalog = lab.run("calib", "score", "--pairs", "job_pairs.csv", "--catalog", "h200", "--json",
                      "--model", "queueing", "--quiet")
    tap.equal("the catalog knows the same jobs", json.loads(catalog.out)["models"]["queueing"],
              said["models"]["queueing"])


def case_train(lab, tap):
    """calib train writes one model file whatever the threads, with where it is from"""
    pairs = made(lab)
    files = []
    for threads in ("1", "3"):
        path = lab.path(f"model-{threads}.json")
        done = lab.run("calib", "train", "--pairs", pairs, "--date", "2026-01-02", "-j", threads,
                       "-o", path, *QUICK)
        tap.equal("exit code", done.code, 0)
        files.append(pathlib.Path(path).read_bytes())
    tap.equal("equal bytes", files[0], files[1])
    model = json.loads(files[0])
    tap.equal("its form and version", (model["form"], model["version"]), ("dnn", 1))
    tap.equal("its date and rows", (model["date"], model["rows"]), ("2026-01-02", 240))
    tap.equal("its networks", len(model["networks"]), 2)
    tap.equal("errors on rows left out", [e["rows"] for e in model["held_out"]["errors"]],
              [80, 80, 80, 240])
    tap.equal("the seed of its data is in the hash", len(model["data_hash"]), 16)
    linear = lab.run("calib", "train", "--pairs", pairs, "--form", "linear", "--folds", "0",
                     "--quiet")
    tap.equal("a linear model on stdout", len(json.loads(linear.out)["weight"]), 36)
    extras = lab.run("calib", "train", "--pairs", pairs, "--form", "linear", "--folds", "0",
                     "--quiet", "--inputs", "steps")
    tap.equal("with kernels and steps", len(json.loads(extras.out)["weight"]), 40)


def case_default(lab, tap):
    """The default predictor is what scripts/train_default makes"""
    flags = pathlib.Path("/proc/cpuinfo").read_text().split()
    if "avx2" not in flags or "fma" not in flags:
        tap.skip("the first network again", "this processor lacks the kernels it was trained with")
        return
    done = subprocess.run([ROOT / "scripts/train_default", lab.program, lab.path("again.json"),
                           "--networks", "1", "--folds", "0", "--quiet"], capture_output=True,
                          text=True, check=False)
    tap.equal("exit code", (done.returncode, done.stderr), (0, ""))
    there = json.loads((ROOT / "core/elastico/models/default.json").read_bytes())
    again = json.loads(pathlib.Path(lab.path("again.json")).read_bytes())
    for key in ("data", "data_hash", "rows", "seed", "date", "extras", "maps"):
        tap.ok(f"the same {key}", again[key] == there[key], f"{again[key]}"[:200])
    tap.equal("five networks", len(there["networks"]), 5)
    tap.ok("the same first network, to the last digit", again["networks"][0] ==
           there["networks"][0])


def case_wrong(lab, tap):
    """What is wrong is named, with the documented exit code"""
    pairs = made(lab)
    jobs = lab.file("jobs.csv", "job_a,job_b,retain_a,retain_b\na,b,.5,.5\n")
    bad = lab.file("bad.csv", "experiment,slowdown\n1,2\n")
    for args, code, said in (
            (["score"], 2, "which pairs?"),
            (["score", "--pairs", lab.path("none.csv")], 3, "none.csv"),
            (["score", "--pairs", jobs], 2, "--solo or --catalog"),
            (["score", "--pairs", bad], 3, "bad.csv: there is no column 'sm_i'"),
            (["score", "--pairs", pairs, "--model", "svm"], 2, "'svm' is no predictor"),
            (["score", "--pairs", pairs, "--model", "dnn+physics"], 2, "lack what it needs"),
            (["score", "--pairs", pairs, "--by", "luck"], 2, "--by luck"),
            (["score", "--pairs", pairs, "--folds", "1"], 2, "--folds 1"),
            (["score", "--pairs", pairs, "--set", "train.epoch=3"], 2, "train.epoch"),
            (["train", "--pairs", pairs, "--card", "abacus"], 2, "--card abacus"),
            (["train", "--pairs", pairs, "--form", "svm"], 2, "--form svm"),
            (["train", "--pairs", pairs, "-o", "/nowhere/m.json", "--form", "linear"], 4,
             "/nowhere/m.json"),
            (["synth", "--set", "experiments.physics=magic"], 2, "physics"),
            (["synth", "--catalog", "none"], 3, "none"),
            (["scoer"], 2, "did you mean 'score'?")):
        done = lab.run("calib", *args)
        tap.equal(f"exit code of {args[0]} {' '.join(args[-2:])}"[:80], done.code, code)
        tap.ok(f"it says {said}", said in done.err, done.err)
