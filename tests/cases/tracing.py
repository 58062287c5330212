"""tracing.py - colosim trace and colosim describe, as a person or a script uses them."""
import csv
import gzip
import io
import json
import pathlib

from lab import native, pai_row

FIVE = native(("a", 0, 10, 1), ("b", 5, 20, 0.25), ("c", 10, 30, 8), ("d", 15, 40, 2),
              ("e", 20, 50, 1))


def rows_of(data):
    return list(csv.DictReader(io.StringIO(data.decode())))


def work_and_span(rows):
    """GPU-seconds asked, and the span of submissions, from the columns of a native trace."""
    work = sum(float(row["duration_s"]) * float(row["gpu"]) * float(row.get("instances", 1))
               for row in rows)
    submit = [float(row["submit_s"]) for row in rows]
    return work, max(submit) - min(submit)


def case_show(lab, tap):
    """trace show"""
    rows = [("a", 25, 1), ("b", 50, 1), ("c", 100, 1), ("d", 800, 1), ("e", 100, "4.0"),
            ("f", 50, 2), ("g", 150, 1)]
    table = lab.file("pai_task_table.csv",
                     "".join(pai_row(name, 0, 10, gpu=gpu, inst=inst) for name, gpu, inst in rows))
    done = lab.run("trace", "show", table)
    head, *lines = [line.split() for line in done.out.decode().splitlines()]
    gpus = {line[0]: float(line[head.index("gpus")]) for line in lines[:-1]}
    tap.near("the GPU demand of each job (case 39)", {name: gpus[name] for name in "abcdef"},
             {"a": 0.25, "b": 0.5, "c": 1, "d": 8, "e": 4, "f": 1})
    tap.ok("150 percent is reported, and two cards or none", "150" in done.err and
           gpus.get("g", 2) == 2, done.shown())
    tap.ok("columns without anything are left out", "user" not in head and "queue" not in head,
           head)
    done = lab.run("trace", "show", lab.file("five.csv", FIVE), "-n", "2")
    tap.equal("-n 2: head, two jobs, the whole", len(done.out.splitlines()), 4)
    tap.ok("the last line is about all jobs", b"5 jobs ask for 12.25 GPUs" in done.out, done.shown())
    tap.equal("-n 0: all", len(lab.run("trace", "show", lab.path("five.csv"), "-n", "0")
                               .out.splitlines()), 7)


def case_sample(lab, tap):
    """trace sample"""
    trace = lab.file("five.csv", FIVE)
    names = lambda *options: [row["job"] for row in
                              rows_of(lab.run("trace", "sample", trace, *options).out)]
    tap.equal("a window takes its beginning and not its end", names("--window", "5..15"), ["b", "c"])
    three = names("-n", "3", "--seed", "4")
    tap.ok("three jobs in their order", len(three) == 3 and three == sorted(three), three)
    tap.equal("the same seed, the same jobs", names("-n", "3", "--seed", "4"), three)
    tap.ok("ten seeds do not all choose alike",
           len({tuple(names("-n", "3", "--seed", str(seed))) for seed in range(10)}) > 1)
    tap.equal("a fraction of what the window leaves",
              len(names("--window", "0..20", "--fraction", "0.5")), 2)
    tap.equal("more than there are: all", names("-n", "9"), list("abcde"))
    kept = rows_of(lab.run("trace", "sample", trace, "--window", "5..6").out)[0]
    tap.equal("times and demand are as they were",
              [float(kept[key]) for key in ("submit_s", "duration_s", "gpu")], [5, 20, 0.25])
    for options, code in ((("-n", "0"), 2), ((), 2), (("-n", "1", "--fraction", "1"), 2),
                          (("--window", "6..5"), 2), (("--window", "900..901"), 3)):
        tap.equal(f"{' '.join(options) or 'no option'}: exit code",
                  lab.run("trace", "sample", trace, *options).code, code)


def case_convert(lab, tap):
    """trace convert"""
    trace = lab.file("five.csv", FIVE)
    first = lab.run("trace", "convert", trace).out
    again = lab.run("trace", "convert", lab.file("first.csv", first)).out
    tap.equal("converting twice changes nothing", again, first)
    done = lab.run("trace", "convert", trace, "-o", lab.path("five.csv.gz"))
    tap.equal("gzip holds the same", gzip.decompress(pathlib.Path(lab.path("five.csv.gz"))
                                                     .read_bytes()), first)
    tap.equal("and nothing is said on stdout", done.out, b"")
    named = lab.file("own.csv", "id,t,len,n\nx,1,2,3\n")
    done = lab.run("trace", "convert", named, "--columns", "job=id,submit_s=t,duration_s=len,gpu=n")
    tap.equal("any CSV by its columns", [rows_of(done.out)[0][key] for key in
                                         ("job", "submit_s", "duration_s", "gpu")],
              ["x", "1", "2", "3"])
    config = lab.file("c.json", '{"columns": "job=id,submit_s=t,duration_s=len,gpu=n"}')
    tap.equal("the same from --config", lab.run("trace", "convert", named, "--config", config).out,
              done.out)
    tap.equal("an unwritable place: exit code", lab.run("trace", "convert", trace, "-o",
                                                        lab.path("no/such.csv")).code, 4)
    tap.equal("a missing trace: exit code", lab.run("trace", "convert", lab.path("none")).code, 3)


def case_info(lab, tap):
    """trace info"""
    trace = lab.file("five.csv", FIVE)
    done = lab.run("trace", "info", trace, "--json", "--cluster", "2x8")
    info = json.loads(done.out)
    work = 10 + 5 + 240 + 80 + 50
    tap.near("GPU-seconds, GPUs they take, load", [info[key] for key in (
        "gpu_seconds", "busy_gpus", "offered_load")], [work, work / 20, work / 320])
    tap.near("sizes", {name: size["jobs"] for name, size in info["sizes"].items()},
             {"none": 0, "<1": 1, "1": 2, "2": 1, "3-4": 0, "5-8": 1, ">8": 0})
    tap.near("durations", {key: info["duration_s"][key] for key in ("mean", "p50", "p90", "max")},
             {"mean": 30, "p50": 30, "p90": 46, "max": 50})
    run = json.loads(lab.run("run", "--trace", trace, "--cluster", "2x8", "--policy", "fifo",
                             "--json").out)
    tap.near("the load a run reports", run["metrics"]["offered_load"], info["offered_load"])
    text = lab.run("trace", "info", trace, "--cluster", "2x8").out.decode()
    tap.ok("in words", "\njobs       5 with 5 tasks" in text and "on the 16 GPUs of 2x8" in text, text)
    embedded = json.loads(lab.run("trace", "info", "--json").out)
    tap.ok("without a file it is the embedded trace", embedded["format"] == "embedded" and
           700 < embedded["jobs"] < 1300 and embedded["kinds"]["infer"] > 0, embedded)


def case_synth(lab, tap):
    """trace synth"""
    done = lab.run("trace", "synth", "--seed", "1", "--quiet")
    rows = rows_of(done.out)
    work, span = work_and_span(rows)
    tap.near("offered load on 64 GPUs", work / 64 / span, 1.2, 1e-6)
    tap.near("hours", span / 3600, 24, 0.6)
    shown = lab.run("trace", "convert").out
    tap.equal("seed 1 is the embedded trace", done.out, shown)
    config = lab.file("s.json", '{"jobs": 300, "load": 0.5, "gpus": "2:1,4:1", "infer_frac": 0, "elastic_frac": 0}')
    rows = rows_of(lab.run("trace", "synth", "--config", config, "--cluster", "4x4").out)
    work, span = work_and_span(rows)
    tap.near("jobs and load from --config, GPUs from --cluster", [len(rows), work / 16 / span],
             [300, 0.5], 1e-6)
    tap.equal("the GPU mix", {row["gpu"] for row in rows}, {"2", "4"})
    rows = rows_of(lab.run("trace", "synth", "--set", "gpus=8:1", "--set", "infer_frac=0", "--set",
                           "elastic_frac=0", "--set", "jobs=5", "--cluster", "4x4").out)
    tap.equal("wide jobs are gangs of the cluster's nodes",
              {(row["gpu"], row["instances"]) for row in rows}, {("4", "2")})
    lab.file("from.csv", native(("x", 0, 111, 1), ("y", 1, 222, 1)))
    rows = rows_of(lab.run("trace", "synth", "--from", lab.path("from.csv"), "--set",
                           "jobs=50").out)
    tap.equal("durations of another trace", {row["duration_s"] for row in rows}, {"111", "222"})
    for options, word in ((("--set", "lod=1"), "did you mean 'load'"),
                          (("--set", "load=-1"), "0 to 1000"), (("--set", "load=x"), "number"),
                          (("--set", "jobs"), "KEY=VALUE"), (("--seed", "-1"), "--seed"),
                          (("--set", "gpus=3"), "WORD:WEIGHT"), (("--cluster", "8y8"), "8y8"),
                          (("--config", lab.path("none.json")), "none.json")):
        done = lab.run("trace", "synth", *options)
        tap.ok(f"{' '.join(options)[:30]}: exit 2, and why", done.code == 2 and word in done.err and
               done.out == b"", done.shown())


def case_describe(lab, tap):
    """describe"""
    listed = {what: json.loads(lab.run("describe", what, "--json").out)
              for what in ("policies", "formats", "gpus", "settings")}
    names = {what: [row["name"] for row in listed[what]] for what in ("policies", "formats", "gpus")}
    tap.ok("policies", {"fifo", "fifo-skip", "sjf", "srtf", "las", "easy-backfill", "pai-sim"} <=
           set(names["policies"]), names)
    tap.ok("formats", {"native", "csv", "pai"} <= set(names["formats"]), names)
    tap.ok("GPU types", {"a100-40g", "t4", "h200"} <= set(names["gpus"]), names)
    keys = {row["key"]: row for row in listed["settings"]}
    tap.ok("settings of a run, a prefix, a policy, the generator",
           {"seed", "trace.duration", "share.max_jobs", "las.queues", "median_s"} <= set(keys), keys)
    tap.equal("nothing is left empty", [row for row in listed["settings"]
                                        if not (row["doc"] and row["range"] and row["type"])], [])
    tap.equal("numbers carry a unit", [row["key"] for row in listed["settings"]
                                       if "number" in row["type"] and not row["unit"]], [])
    for what in listed:
        text = lab.run("describe", what).out.decode()
        first = (names.get(what) or list(keys))[0]
        tap.ok(f"{what} in words", first in text, text)
    one = lab.run("describe", "settings", "trace.duration").out.decode()
    tap.ok("one setting", "minus_wait" in one and "seed" not in one, one)
    one = json.loads(lab.run("describe", "policies", "volcano", "--json").out)
    tap.equal("one policy with all its settings", [row["key"] for row in one["settings"]],
              [key for key in keys if key.startswith("volcano.")])
    tap.equal("each says where it is from", [row["key"] for row in one["settings"]
                                             if not row["doc"].endswith("]")], [])
    one = lab.run("describe", "policies", "fifo").out.decode()
    tap.ok("one without settings", "no settings" in one and "sjf" not in one, one)
    for args, word in (((), "describe what"), (("polices",), "policies"),
                       (("policies", "sfj"), "no policy 'sfj'"),
                       (("settings", "sede"), "did you mean 'seed'"), (("gpus", "t4"), "t4")):
        done = lab.run("describe", *args)
        tap.ok(f"describe {' '.join(args)}: exit 2, and why", done.code == 2 and word in done.err,
               done.shown())
