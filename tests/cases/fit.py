"""fit.py - colosim calib fit and validate, and runs with the physics they are about."""
import csv
import io
import json
import pathlib
import statistics
import subprocess

from lab import native

ROOT = pathlib.Path(__file__).parents[2]
CATALOGS = ROOT / "core/elastico/catalogs"
H200 = ["--pairs", str(CATALOGS / "h200_pairs.csv"), "--solo", str(CATALOGS / "h200_solo.csv")]
SHARED_DAY = ["--policy", "fifo-skip", "--truth", "contention", "--set", "share.max_jobs=2"]


def fitted(lab, *args):
    """The file that calib fit writes, parsed."""
    done = lab.run("calib", "fit", *args, "--date", "2026-01-02", "-o", "-", "--quiet")
    assert done.code == 0, done.shown()
    return json.loads(done.out)


def case_script(lab, tap):
    """Fitted to our H200 pairs it finds what the script in Python finds, and the simulator ships"""
    said = subprocess.run([ROOT / "scripts/fit_contention"], capture_output=True, text=True,
                          check=True).stdout.splitlines()
    alpha = said[0].split()[2::2]
    weights = dict(line.split() for line in said[1:24])
    line = said[24].split()
    file = fitted(lab, *H200, "--set", "fit.steps=false", "--folds", "0")
    for name, value in zip(("sm", "tensor", "dram"), alpha):
        tap.near(f"alpha of {name}", file["alpha"][name]["value"], float(value), 2e-4)
    jobs = {job["job"]: job for job in file["jobs"]}
    tap.equal("its jobs", sorted(jobs), sorted(weights))
    worst = max(abs(jobs[name]["log_w"]["value"] - float(w)) for name, w in weights.items())
    tap.ok("their weights to the third digit", worst < 5e-4, worst)
    tap.near("the line of weights over step times",
             [file["log_w_of_step"][key]["value"] for key in ("at_1_s", "slope")],
             [float(line[3]), float(line[5].removesuffix("ln(step"))], 5e-4)
    tap.ok("every number has an error", all(job["log_w"]["se"] > 0 for job in jobs.values()))


def case_held_out(lab, tap):
    """Pairs and jobs left out: within what is stated, with any number of threads"""
    one, two = (lab.run("calib", "fit", *H200, "-j", n, "-o", "-", "--date", "x", "--quiet").out
                for n in ("1", "3"))
    tap.equal("threads change nothing", one, two)
    pair, job = json.loads(one)["held_out"]
    tap.equal("what is left out", (pair["left_out"], pair["folds"], pair["repeats"], pair["rows"]),
              ("pair", 5, 5, 552))
    tap.ok("pairs: 5.5 %, R2 .93", pair["mape_max_pct"] <= 5.5 and pair["r2"] >= .93, pair)
    tap.equal("each of 23 jobs in turn, both sides of its pairs", (job["left_out"], job["rows"]),
              ("job", 23 * 46 - 23 * 2 + 2 * 23 - 23 * 2 + 2 * 23))
    tap.ok("jobs are harder than pairs", job["mape_pct"] > 1.5 * pair["mape_pct"], job)
    table = lab.run("calib", "fit", *H200)
    tap.equal("exit code", table.code, 0)
    tap.ok("the table's figures are the file's", f"{pair['mape_pct']:.2f}" in table.said and
           f"{job['mape_pct']:.2f}" in table.said, table.shown())


def case_model(lab, tap):
    """A run with the file is a run with the set that was fitted the same way"""
    free, line = lab.path("free.json"), lab.path("line.json")
    for path, steps in ((free, "false"), (line, "true")):
        done = lab.run("calib", "fit", *H200, "--set", f"fit.steps={steps}", "--folds", "0", "-o",
                       path, "--quiet")
        tap.equal("exit code", done.code, 0)

    def jct(*more):
        done = lab.run("run", *SHARED_DAY, "--json", "--quiet", *more)
        return json.loads(done.out)["metrics"]["jct_mean_s"]
    shipped = jct()
    tap.near("mean JCT with the shipped four digits and with the file's nine",
             jct("--model", free), shipped, .5)
    other = jct("--model", line)
    tap.ok("other weights, another day", 1e-3 < abs(other / shipped - 1) < .1, other / shipped)
    tap.near("contention.m multiplies the file's", jct("--model", free, "--set", "contention.m=1.05"),
             jct("--set", "contention.m=1.05"), .5)
    wrong = lab.run("run", "--model", free, "--truth", "none", "--policy", "fifo")
    tap.ok("nobody else asks it", wrong.code == 2 and "--truth contention" in wrong.err,
           wrong.shown())
    broken = lab.file("broken.json", "{\"format\": \"colosim physics\", \"version\": 9}")
    done = lab.run("run", *SHARED_DAY, "--model", broken)
    tap.ok("a file that is none", done.code == 3 and "'version' is 9" in done.err, done.shown())
    done = lab.run("run", *SHARED_DAY, "--model", lab.path("none.json"))
    tap.ok("one that is not there", done.code == 3 and "none.json" in done.err, done.shown())


def case_04(lab, tap):
    """04 pair speeds out of times alone and together, then a replay"""
    solo = lab.file("solo.csv", "model,iter_ms\nx,100.0\ny,50.0\n")
    pairs = lab.file("pairs.csv", "model_a,model_b,iter_ms_a,iter_ms_b\nx,y,125.0,100.0\n")
    done = lab.run("calib", "fit", "--solo", solo, "--pairs", pairs, "--speeds",
                   lab.path("speeds.csv"))
    tap.equal("exit code", done.code, 0)
    row, = csv.DictReader(io.StringIO(pathlib.Path(lab.path("speeds.csv")).read_text()))
    tap.near("speeds, and not slowdowns", [float(row["speed_a"]), float(row["speed_b"])], [.8, .5])
    trace = native(("x", 0, 10, 1, "x"), ("y", 0, 10, 1, "y"),
                   head="job,submit_s,duration_s,gpu,workload")
    run = lab.replay(trace, "1x1:v100-32g", "--set", "share.max_jobs=2", "--truth", "table",
                     "--pairs", lab.path("speeds.csv"))
    tap.near("ends", run.column("finish_s"), {"x": 12.5, "y": 16.25})


def case_05(lab, tap):
    """05 throttled samples are left out, and an old file outlives a new one that failed"""
    some = lab.file("some.csv", "i,iter_ms,throttled\n0,10.0,0\n1,10.2,0\n2,9.8,0\n3,10.0,0\n4,25.0,1\n")
    none = lab.file("none.csv", "i,iter_ms,throttled\n0,24.0,1\n1,25.0,1\n")
    profile = lab.path("profile.json")
    tap.equal("exit code", lab.run("calib", "fit", "--profiles", some, "-o", profile).code, 0)
    before = pathlib.Path(profile).read_bytes()
    rate, = json.loads(before)["rates"]
    tap.equal("used and left out", (rate["samples"], rate["throttled"]), (4, 1))
    tap.near("iteration time", rate["step_s"], .010)
    done = lab.run("calib", "fit", "--profiles", none, "-o", profile)
    tap.ok("nothing left: exit 3", done.code == 3 and "throttled" in done.err, done.shown())
    tap.equal("the old file", pathlib.Path(profile).read_bytes(), before)


def case_07(lab, tap):
    """07 instances without sensor data are unknown and not idle"""
    instances = lab.file("pai_instance_table.csv", "".join(
        f"j{i},worker,i{i},w{i},id{i},Terminated,0.0,100.0,m1\n" for i in range(5)))
    sensors = lab.file("pai_sensor_table.csv", "".join(
        f"j{i},worker,w{i},id{i},m1,/dev/nvidia0,100.0,{util},1.0,2.0,1.0,2.0,0,0,0,0\n"
        for i, util in ((0, 30.0), (2, 60.0), (4, 90.0))))
    args = ["calib", "fit", "--instances", instances, "--sensors", sensors]
    said = json.loads(lab.run(*args, "-o", "-").out)["sensors"]
    tap.equal("instances, with and without", [said[key] for key in (
        "instances", "with_sensor", "without")], [5, 3, 2])
    tap.near("mean utilisation", said["gpu_util_mean_pct"], 60)
    table = lab.run(*args)
    tap.ok("and for people", "5 instances: 3 with a sensor, 2 without" in table.said and
           "60 %" in table.said, table.shown())


def recorded_day(lab, name, *physics):
    """What a made testbed did with the embedded day under this physics: the path of its record."""
    db = lab.new_database()
    done = lab.run("run", *SHARED_DAY, *physics, "--db", db, "--label", "day", "--quiet")
    assert done.code == 0, done.shown()
    return lab.file(name, lab.export(db, "day"))


def case_validate(lab, tap):
    """A recorded day beside its replay: none off with the same physics, and as much as it is off"""
    same = recorded_day(lab, "same.csv")
    done = lab.run("calib", "validate", "--recorded", same, *SHARED_DAY, "--quiet", "--json")
    tap.equal("exit code", done.code, 0)
    said = json.loads(done.out)
    tap.ok("the same physics: no error", all(m["error_pct"] == 0 for m in said["metrics"].values()),
           said)
    testbed = recorded_day(lab, "testbed.csv", "--set", "contention.m=1.08")
    args = ["calib", "validate", "--recorded", testbed, *SHARED_DAY, "--quiet"]
    said = json.loads(lab.run(*args, "--json").out)
    jct = {path: [float(row["jct_s"]) for row in csv.DictReader(open(path))]
           for path in (same, testbed)}
    mean = {path: statistics.fmean(values) for path, values in jct.items()}
    tap.near("mean JCT, recorded and replayed",
             [said["metrics"]["jct_mean_s"][key] for key in ("recorded", "replayed")],
             [mean[testbed], mean[same]])
    tap.near("its error", said["metrics"]["jct_mean_s"]["error_pct"],
             100 * (mean[same] / mean[testbed] - 1))
    tap.near("job by job", said["job_error_mean_pct"], statistics.fmean(
        100 * abs(a / b - 1) for a, b in zip(jct[same], jct[testbed])))
    worst = max(abs(said["metrics"][name]["error_pct"])
                for name in ("jct_mean_s", "throughput_ended_gpus"))
    tap.equal("within the tolerance or not is the exit code", [
        lab.run(*args, "--tolerance", str(pct)).code for pct in (1.01 * worst, .99 * worst)], [0, 1])
    table = lab.run(*args)
    tap.ok("the paper's 7 % are named and not claimed", "within 7 %" in table.said and
           "no comparison" in table.said, table.shown())


def case_wrong(lab, tap):
    """What is wrong is named, with the documented exit code"""
    pairs = lab.file("pairs.csv", "job_a,job_b,retain_a,retain_b\na,b,.5,.5\n")
    gavel = lab.file("g.csv", "gpu,job1,job2,solo1_steps_s,solo2_steps_s,colo1_steps_s,colo2_steps_s\n"
                     "k80,a,b,1,1,.5,.5\n")
    early = lab.file("early.csv", "job,start_s,end_s\njob-2,1,5\n")
    for args, code, said in (
            (["fit"], 2, "what to fit?"),
            (["fit", "--sensors", pairs], 2, "go together"),
            (["fit", "--pairs", pairs], 2, "--solo or --catalog"),
            (["fit", "--pairs", gavel, "--where", "gpu"], 2, "want COLUMN=VALUE"),
            (["fit", "--pairs", gavel, "--where", "card=x"], 2, "no column 'card'"),
            (["fit", "--pairs", gavel, "--where", "gpu=p100"], 3, "no row where gpu=p100"),
            (["fit", "--pairs", gavel, "--set", "fit.kappa=true"], 2, "kappa wants counters"),
            (["fit", "--profiles", pairs], 3, "there is no column of speeds"),
            (["fit", "--probes", pairs], 3, "there is no column 'probe_a'"),
            (["fit", *H200, "-o", "/nowhere/x.json"], 4, "/nowhere/x.json"),
            (["fit", *H200, "--set", "fit.rigde=1"], 2, "fit.ridge"),
            (["validate"], 2, "--recorded FILE"),
            (["validate", "--recorded", lab.path("none.csv"), "--quiet"], 3, "none.csv"),
            (["validate", "--recorded", early, "--quiet"], 3, "before its submission")):
        done = lab.run("calib", *args)
        tap.equal(f"exit code of {' '.join(args)[:60]}", done.code, code)
        tap.ok(f"it says {said}", said in done.err, done.shown())
