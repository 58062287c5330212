"""replay.py - cases about order, gangs, fractions, units and means: exact numbers, derived by hand.

CPU and memory are never the limit; the numbers do not depend on which of the possible cards is
chosen."""
import csv
import io
import re

from lab import V100, native, pai_row


def case_08(lab, tap):
    """08 a wide job behind a stream of small ones"""
    trace = native(("wide", 1, 10, 8), *((f"s{i}", 5 * i, 10, 4) for i in range(10)))
    strict = lab.replay(trace, V100.format(8))
    jct = strict.column("jct_s")
    tap.near("strict: jct", {name: jct[name] for name in ("wide", "s0", "s1", "s2", "s9")},
             {"wide": 19, "s0": 10, "s1": 25, "s2": 20, "s9": 25})
    tap.near("strict: mean jct", strict.metrics["jct_mean_s"], 234 / 11)
    tap.near("strict: makespan", strict.metrics["makespan_s"], 70)
    skip = lab.replay(trace, V100.format(8), policy="fifo-skip")
    tap.near("skip: jct", skip.column("jct_s"), {"wide": 64, **{f"s{i}": 10 for i in range(10)}})
    tap.near("skip: mean jct", skip.metrics["jct_mean_s"], 164 / 11)
    tap.near("skip: makespan", skip.metrics["makespan_s"], 65)
    tap.near("skip: longest wait", skip.metrics["wait_max_s"], 54)
    text = lab.run("run", "--trace", lab.path("trace.csv"), "--cluster", "1x8", "--policy",
                   "fifo-skip").out.decode()
    tap.ok("the summary names who waited longest", "54 s (wide)" in text, text)
    tap.ok("and the mean wait of each size class", re.search(r"\n3-4 +10 +0 +10\n", text)
           and re.search(r"\n5-8 +1 +54 +64\n", text), text)


def case_13(lab, tap):
    """13 submissions before zero are ordinary times"""
    run = lab.replay(pai_row("a", -50, 50) + pai_row("b", 0, 10), V100.format(1))
    tap.near("jct", run.column("jct_s"), {"a": 100, "b": 60})
    tap.near("makespan", run.metrics["makespan_s"], 110)
    tap.near("submissions are kept", run.column("submit_s"), {"a": -50, "b": 0})


def case_14(lab, tap):
    """14 a parameter server and its workers are one job"""
    run = lab.replay(pai_row("j1", 0, 100, task="ps", cpu="600.0", gpu="", kind="")
                     + pai_row("j1", 0, 100, inst=2, cpu="400.0", gpu=50)
                     + pai_row("j2", 10, 60), V100.format(1))
    tap.near("j2 waits for both instances of j1", run.column("jct_s"), {"j1": 100, "j2": 140})
    tap.near("j1 asks for one GPU in all", run.jobs["j1"]["gpu"], 1.0)
    convert = lab.run("trace", "convert", "--trace", lab.path("trace.csv"), "-o", "-")
    tasks = [row for row in csv.DictReader(io.StringIO(convert.out.decode())) if row["job"] == "j1"]
    tap.near("j1 asks for 6 + 2 x 4 cores",
             sum(float(task["cpu"]) * float(task["instances"]) for task in tasks), 14)


def case_17(lab, tap):
    """17 nothing can run"""
    run = lab.replay(pai_row("a", 0, 100, gpu=900) + pai_row("b", 5, 105, gpu=1600), V100.format(8))
    tap.equal("exit code of a run without results", run.code, 5)
    tap.ok("it ends by itself at once", run.seconds < 5, run.seconds)
    tap.near("completed and rejected",
             [run.metrics["jobs_completed"], run.metrics["jobs_rejected"]], [0, 2])
    means = [name for name in run.metrics if name.startswith(("jct_", "wait_", "slowdown"))]
    tap.ok("means are null", means and all(run.metrics[name] is None for name in means), run.metrics)
    tap.ok("it says that 0 of 2 jobs ran", "0 of 2" in run.said, run.shown())


def case_19(lab, tap):
    """19 a trace that starts late"""
    run = lab.replay(pai_row("a", "1000000.0", "1000100.0") + pai_row("b", "1000050.0", "1000150.0"),
                     V100.format(1))
    tap.near("jct", run.column("jct_s"), {"a": 100, "b": 150})
    tap.near("makespan counts from the first submission", run.metrics["makespan_s"], 200)
    tap.near("utilisation has the same window", run.metrics["gpu_alloc_mean"], 1.0)


def case_22(lab, tap):
    """22 a job of zero seconds"""
    trace = pai_row("a", 0, 100) + pai_row("z", 10, 10) + pai_row("b", 20, 30)
    run = lab.replay(trace, V100.format(1))
    tap.near("jct", run.column("jct_s"), {"a": 100, "z": 90, "b": 90})
    tap.near("completed", run.metrics["jobs_completed"], 3)
    tap.near("gpu seconds", run.metrics["gpu_seconds"], 110)
    tap.near("slowdown leaves z out", run.metrics["slowdown_mean"], (1 + 9) / 2)
    text = lab.run("run", "--trace", lab.path("trace.csv"), "--cluster", "1x1", "--policy", "fifo")
    everything = run.said + text.said + str(run.jobs)
    tap.equal("no inf and no nan anywhere",
              re.findall(r"(?i)\b[-+]?(?:inf|infinity|nan)\b", everything), [])


def case_25(lab, tap):
    """25 fractions that add up to one GPU"""
    rows = [(f"t{i:02d}", 0, 100, 10) for i in range(11)]
    for name, start, shares in (("u", 1000, (10, 20, 30, 40)), ("v", 2000, (33, 33, 33, 1)),
                                ("w", 3000, (70, 20, 10))):
        rows += [(f"{name}{i}", start, start + 50, share) for i, share in enumerate(shares)]
    run = lab.replay("".join(pai_row(*row) for row in rows), V100.format(1))
    wait, jct = run.column("wait_s"), run.column("jct_s")
    tap.near("ten tenths start at once, the eleventh waits",
             {name: wait[name] for name in wait if name[0] == "t"},
             {f"t{i:02d}": 100 if i == 10 else 0 for i in range(11)})
    tap.near("jct of the eleventh", jct["t10"], 200)
    groups = [name for name, *_ in rows[11:]]
    tap.near("every other group starts at once", {name: wait[name] for name in groups},
             dict.fromkeys(groups, 0))
    tap.near("and ends together", {name: jct[name] for name in groups}, dict.fromkeys(groups, 50))


def case_31(lab, tap):
    """31 more demand than GPUs"""
    run = lab.replay(native(("a", 0, 100, 2), ("b", 0, 100, 2)), "m1,A10,96,512,3\n")
    tap.near("jct", run.column("jct_s"), {"a": 100, "b": 200})
    tap.near("makespan", run.metrics["makespan_s"], 200)
    tap.near("utilisation", run.metrics["gpu_alloc_mean"], 400 / 600)
    tap.near("offered load", run.metrics["offered_load"], 400 / 300)


def case_33(lab, tap):
    """33 exponents and parts of a second"""
    run = lab.replay(pai_row("a", "1.5e3", "1500.25") + pai_row("b", "1.5001E+3", "1500.6"),
                     V100.format(1))
    tap.near("jct", run.column("jct_s"), {"a": 0.25, "b": 0.65})
    tap.near("makespan", run.metrics["makespan_s"], 0.75)


def case_35(lab, tap):
    """35 enough GPUs in all, no placement"""
    cluster = "m1,V100,96,512,4\nm2,V100,96,512,2\nm3,V100,96,512,2\n"
    run = lab.replay(pai_row("a", 0, 10, inst=2, gpu=400) + pai_row("b", 1, 11, gpu=400), cluster)
    tap.equal("a is rejected", run.jobs["a"]["status"], "rejected")
    tap.near("and does not block b", run.jobs["b"]["jct_s"], 10)
    tap.near("completed", run.metrics["jobs_completed"], 1)
    tap.equal("exit code", run.code, 0)


def case_36(lab, tap):
    """36 two gangs that each need the whole cluster"""
    for policy in ("fifo", "fifo-skip", "sjf", "easy-backfill", "srtf"):
        db = lab.new_database()
        run = lab.replay(pai_row("a", 0, 100, inst=8) + pai_row("b", 0, 100, inst=8),
                         "m1,V100,96,512,4\nm2,V100,96,512,4\n", policy=policy, db=db)
        tap.near(f"{policy}: jct", sorted(run.column("jct_s").values()), [100, 200])
        tap.near(f"{policy}: makespan", run.metrics["makespan_s"], 200)
        held = lab.query(db, "SELECT min(start_us) FROM span WHERE job = "
                         "(SELECT job FROM job WHERE name = ?)", "b")
        tap.equal(f"{policy}: b holds nothing before 100 s", held, [(100_000_000,)])


def case_39(lab, tap):
    """39 plan_gpu is percent of a card, per instance"""
    rows = [("a", 25, 1), ("b", 50, 1), ("c", 100, 1), ("d", 800, 1), ("e", 100, "4.0"),
            ("f", 50, 2), ("g", 150, 1)]
    trace = "".join(pai_row(name, 0, 10, gpu=gpu, inst=inst) for name, gpu, inst in rows)
    cluster = "".join(f"m{i},V100,96,512,8\n" for i in range(1, 6))
    run = lab.replay(trace, cluster)
    gpus = {name: run.jobs[name]["gpu"] for name in "abcdef"}
    tap.near("GPUs of each job", gpus, {"a": 0.25, "b": 0.5, "c": 1, "d": 8, "e": 4, "f": 1})
    tap.near("their sum", sum(gpus.values()), 14.75)
    tap.ok("150 percent is reported", "150" in run.err, run.err)
    tap.ok("and is two cards or none", run.jobs.get("g", {"gpu": 2})["gpu"] == 2, run.jobs.get("g"))
    tap.near("jct", run.column("jct_s"), dict.fromkeys(run.jobs, 10))


def case_40(lab, tap):
    """40 typed requests on a mixed cluster"""
    trace = (pai_row("a", 0, 100, kind="T4") + pai_row("b", 0, 100)
             + pai_row("c", 10, 30) + pai_row("d", 20, 30, kind="A100")
             + pai_row("e", 30, 40, kind=""))
    run = lab.replay(trace, "m1,T4,96,512,2\nm2,V100,96,512,1\n", policy="fifo-skip")
    tap.near("jct", {name: run.jobs[name]["jct_s"] for name in "abce"},
             {"a": 100, "b": 100, "c": 110, "e": 10})
    tap.equal("d is set aside", run.jobs["d"]["status"], "rejected")
    tap.near("completed, rejected, mean jct",
             [run.metrics[name] for name in ("jobs_completed", "jobs_rejected", "jct_mean_s")],
             [4, 1, 80])
    lines = [line for line in run.err.splitlines() if "A100" in line]
    tap.ok("the unknown type is named once", len(lines) == 1, run.err)


def case_41(lab, tap):
    """41 arrivals twice as fast"""
    trace = pai_row("a", 0, 80) + pai_row("b", 100, 180) + pai_row("c", 200, 280)
    tap.near("as is: jct", lab.replay(trace, V100.format(1)).column("jct_s"),
             {"a": 80, "b": 80, "c": 80})
    fast = lab.replay(trace, V100.format(1), "--rate-scale", "2")
    tap.near("half the gaps: jct", fast.column("jct_s"), {"a": 80, "b": 110, "c": 140})
    tap.near("half the gaps: mean jct, makespan",
             [fast.metrics["jct_mean_s"], fast.metrics["makespan_s"]], [110, 240])


def case_47(lab, tap):
    """47 a fraction never straddles two cards"""
    run = lab.replay("".join(pai_row(f"f{i:02d}", 0, 60, gpu=15) for i in range(54)),
                     V100.format(8))
    starts = list(run.column("start_s").values())
    tap.near("started at 0 and at 60", [starts.count(0), starts.count(60)], [48, 6])
    tap.near("mean jct", run.metrics["jct_mean_s"], 3600 / 54)
    tap.near("makespan", run.metrics["makespan_s"], 120)
    tap.near("peak allocation", run.metrics["gpu_alloc_max"] * 8, 7.2)


def case_53(lab, tap):
    """53 percentiles of ten"""
    rows = [pai_row(f"j{i:02d}", 0, 10 * i) for i in range(1, 11)]
    cluster = "m1,V100,96,512,8\nm2,V100,96,512,8\n"
    run = lab.replay("".join(rows), cluster)
    names = ("jct_mean_s", "jct_p50_s", "jct_p90_s", "jct_p99_s")
    tap.near("mean and linear percentiles", [run.metrics[name] for name in names],
             [55, 55, 91, 99.1])
    text = lab.run("run", "--trace", lab.path("trace.csv"), "--cluster", "2x8", "--policy", "fifo")
    tap.ok("the summary names the method", "linear" in text.said or "interpol" in text.said,
           text.said)
    one = lab.replay(rows[0], cluster)
    tap.near("one job: percentiles", [one.metrics["jct_p50_s"], one.metrics["jct_p99_s"]], [10, 10])
    tap.equal("one job: no spread", one.metrics["jct_sd_s"], None)
