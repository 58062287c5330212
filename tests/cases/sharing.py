"""sharing.py - cases with two jobs on one card of 32 GiB, at the speeds of a table.

duration_s is the time alone; speed 0.8 means 0.8 s of work per second while together."""
from lab import native

HEAD = "job,submit_s,duration_s,gpu,workload,gpu_mem_mib"
CARD = "1x1:v100-32g"


def shared(lab, rows, pairs, policy="fifo", share=2):
    """A replay of (job, submit, duration, workload, GiB) with up to share jobs on the card."""
    trace = native(*((job, submit, duration, 1, workload, gib * 1024)
                     for job, submit, duration, workload, gib in rows), head=HEAD)
    pairs = lab.file("pairs.csv", "model_a,model_b,speed_a,speed_b\n" + pairs)
    return lab.replay(trace, CARD, "--set", f"share.max_jobs={share}", "--truth", "table",
                      "--pairs", pairs, policy=policy)


def case_04(lab, tap):
    """04 speed is time alone over time together"""
    run = shared(lab, [("x", 0, 10, "x", 4), ("y", 0, 10, "y", 4)], "x,y,0.8,0.5\n")
    tap.near("ends", run.column("finish_s"), {"x": 12.5, "y": 16.25})


def case_28(lab, tap):
    """28 sharing for a part of the run"""
    run = shared(lab, [("a", 0, 100, "x", 4), ("b", 50, 100, "y", 4)], "x,y,0.8,0.8\n")
    tap.near("jct", run.column("jct_s"), {"a": 112.5, "b": 112.5})
    tap.near("ends", run.column("finish_s"), {"a": 112.5, "b": 162.5})
    tap.near("makespan", run.metrics["makespan_s"], 162.5)


def case_42(lab, tap):
    """42 two jobs slow each other equally"""
    rows = [("a", 0, 100, "x", 4), ("b", 0, 100, "y", 4)]
    alone = shared(lab, rows, "x,y,0.8,0.8\n", share=1)
    tap.near("exclusive: jct", alone.column("jct_s"), {"a": 100, "b": 200})
    tap.near("exclusive: mean jct, makespan",
             [alone.metrics["jct_mean_s"], alone.metrics["makespan_s"]], [150, 200])
    for policy in ("fifo", "fifo-skip", "sjf", "easy-backfill"):
        run = shared(lab, rows, "x,y,0.8,0.8\n", policy=policy)
        tap.near(f"{policy}, shared: jct", run.column("jct_s"), {"a": 125, "b": 125})
        tap.near(f"{policy}, shared: mean jct, makespan",
                 [run.metrics["jct_mean_s"], run.metrics["makespan_s"]], [125, 125])
    tap.near("shared: mean interference is 1 / 0.8", run.metrics["interference_mean"], 1.25)


def peak_memory(lab, run_db, gib_of):
    """The most memory held on the card at once, from the stored spans."""
    spans = lab.query(run_db, "SELECT job.name, span.start_us, span.end_us FROM span "
                      "JOIN job ON job.run = span.run AND job.job = span.job")
    return max(sum(gib_of[name.decode()] for name, start, end in spans if start <= at < end)
               for _, at, _ in spans)


def case_43(lab, tap):
    """43 two jobs that would run out of GPU memory"""
    gib = {"a": 20, "b": 20, "c": 10}
    run = shared(lab, [("a", 0, 100, "x", 20), ("b", 0, 100, "y", 20), ("c", 10, 50, "z", 10)],
                 "x,y,0.9,0.9\nx,z,1.0,1.0\ny,z,1.0,1.0\n", policy="fifo-skip")
    tap.near("jct", run.column("jct_s"), {"a": 100, "b": 200, "c": 50})
    tap.near("makespan", run.metrics["makespan_s"], 200)
    tap.near("peak memory on the card", peak_memory(lab, lab.path("r1.db"), gib), 30)


def case_46(lab, tap):
    """46 the two jobs suffer differently"""
    run = shared(lab, [("a", 0, 90, "x", 4), ("b", 0, 90, "y", 4)], "y,x,0.6,0.9\n")
    tap.near("jct, the pair listed the other way round", run.column("jct_s"), {"a": 100, "b": 130})
    tap.near("makespan", run.metrics["makespan_s"], 130)
    tap.near("mean jct", run.metrics["jct_mean_s"], 115)


def case_unmeasured(lab, tap):
    """28b a pair that was not measured does not share"""
    run = shared(lab, [("a", 0, 100, "x", 4), ("b", 0, 100, "q", 4)], "x,y,0.8,0.8\n")
    tap.near("jct", run.column("jct_s"), {"a": 100, "b": 200})


def case_bad_pairs(lab, tap):
    """28c a table of pairs that contradicts itself is refused"""
    for name, pairs in (("two speeds for one pair", "x,y,0.8,0.8\ny,x,0.8,0.7\n"),
                        ("a speed of zero", "x,y,0,0.8\n"), ("a word", "x,y,fast,0.8\n")):
        run = shared(lab, [("a", 0, 100, "x", 4)], pairs)
        tap.equal(f"{name}: exit code", run.code, 3)
        tap.ok(f"{name}: the message names the file", "pairs.csv" in run.err, run.err)
