"""queues.py - cases about weighted queues and elastic jobs."""
import json

from lab import V100, native

HEAD = "job,submit_s,duration_s,gpu,queue"


def cluster(lab, gpus, *weights, name="cluster.json"):
    """One node of so many GPUs, with queues of these (name, weight)."""
    return lab.file(name, json.dumps({
        "nodes": [{"gpus": gpus}],
        "queues": [{"name": name, "weight": weight} for name, weight in weights]}))


def case_24(lab, tap):
    """24 a job wider than its queue's part"""
    rows = [("a", 0, 100, 2, "qa"), ("b", 10, 50, 2, "qb"), ("c", 10, 50, 2, "qc")]
    run = lab.replay(native(*rows, head=HEAD),
                     cluster(lab, 3, ("qa", 1), ("qb", 1), ("qc", 1)), policy="fair-queues")
    tap.near("jct", run.column("jct_s"), {"a": 100, "b": 140, "c": 190})
    tap.near("completed, makespan",
             [run.metrics["jobs_completed"], run.metrics["makespan_s"]], [3, 200])


def case_44(lab, tap):
    """44 an elastic job gives way and grows back"""
    head = "job,submit_s,duration_s,gpu,gpu_min,gpu_max"
    # 400 GPU-s on 1 to 4 GPUs, 100 GPU-s on 2; linear scaling: 100 s on 4 and 50 s on 2
    run = lab.replay(native(("a", 0, 100, 4, 1, 4), ("b", 50, 50, 2, 2, 2), head=head),
                     V100.format(4), "--set", "elastic.scale_exp=1", policy="elastic-fifo")
    tap.near("jct", run.column("jct_s"), {"a": 125, "b": 50})
    tap.near("makespan", run.metrics["makespan_s"], 125)
    tap.near("gpu seconds", run.column("held_gpu_s"), {"a": 400, "b": 100})
    tap.near("utilisation", run.metrics["gpu_alloc_mean"], 1.0)
    bars = lab.query(lab.path("r1.db"), "SELECT span.start_us / 1000000, span.end_us / 1000000, "
                     "sum(n_gpus) FROM span JOIN job USING (run, job) WHERE name = 'a' "
                     "GROUP BY 1, 2 ORDER BY 1")
    tap.equal("a runs on 4, then 2, then 4 again", bars, [(0, 50, 4), (50, 100, 2), (100, 125, 4)])


def case_45(lab, tap):
    """45 weights that add up to zero or are negative"""
    trace = native(("a", 0, 10, 1, "qa"), ("b", 0, 10, 1, "qb"), head=HEAD)
    for name, weights in (("zero", (("qa", 0), ("qb", 0))), ("negative", (("qa", -1), ("qb", 3)))):
        db = lab.new_database()
        run = lab.replay(trace, cluster(lab, 2, *weights, name=f"{name}.json"),
                         policy="fair-queues", db=db)
        tap.equal(f"{name}: exit code", run.code, 2)
        tap.ok(f"{name}: the message names the weight of qa", "qa" in run.err and
               "weight" in run.err and str(weights[0][1]) in run.err, run.err)
        tap.equal(f"{name}: no run recorded", lab.runs(db), [])
        db = lab.new_database()
        text = ",".join(f"{queue}:{weight}" for queue, weight in weights)
        run = lab.replay(trace, V100.format(2), "--set", f"fair-queues.weights={text}",
                         policy="fair-queues", db=db)
        tap.ok(f"{name}, as a setting: exit 2, and the weight of qa", run.code == 2 and
               "qa" in run.err and "weight" in run.err, run.shown())
        tap.equal(f"{name}, as a setting: no run recorded", lab.runs(db), [])


def case_51(lab, tap):
    """51 weights and parts that are not used"""
    for demand, starts, mean in ((4, {"a": 4, "b": 4}, 1600 / 12), (8, {"a": 2, "b": 6}, 150)):
        rows = [(f"a{i}", 0, 100, 1, "qa") for i in range(8)]
        rows += [(f"b{i}", 0, 100, 1, "qb") for i in range(demand)]
        run = lab.replay(native(*rows, head=HEAD), cluster(lab, 8, ("qa", 1), ("qb", 3)),
                         policy="fair-queues")
        at_0 = [name[0] for name, start in run.column("start_s").items() if start == 0]
        tap.equal(f"demand {demand}: started at 0", {q: at_0.count(q) for q in "ab"}, starts)
        tap.near(f"demand {demand}: mean jct, makespan",
                 [run.metrics["jct_mean_s"], run.metrics["makespan_s"]], [mean, 200])


def case_queues_of_a_file(lab, tap):
    """45b queues of a cluster's file are checked like the rest of it"""
    trace = lab.file("t.csv", native(("a", 0, 10, 1, "qa"), head=HEAD))
    for queues, word in (([{"weight": 1}], "queues[0]: name is missing"),
                         ([{"name": "qa", "weigth": 1}], "did you mean 'weight'"),
                         ([{"name": "qa", "weight": "1"}], "weight is no number"),
                         ([{"name": "qa"}, {"name": "qa"}], "queue qa is there twice"),
                         ([{"name": "qa", "weight": 1e10}], "want 0 to 1e+09"),
                         ({"qa": 1}, "queues: want"), (["qa"], "queues[0]: want an object")):
        spec = lab.file("c.json", json.dumps({"nodes": [{"gpus": 1}], "queues": queues}))
        done = lab.run("run", "--trace", trace, "--cluster", spec, "--policy", "fair-queues")
        tap.ok(f"{word}: exit 2, and why", done.code == 2 and word in done.err, done.shown())


def case_compare(lab, tap):
    """comparing policies says what each was configured to be"""
    trace = lab.file("t.csv", native(("a", 0, 10, 1, "qa"), ("b", 0, 10, 1, "qb"), head=HEAD))
    done = lab.run("compare", "--trace", trace, "--cluster", "1x1", "--policy",
                   "fifo,fair-queues,las", "--set", "fair-queues.weights=qa:2", "--set",
                   "las.queues=3", "--set", "place=spread", "--seeds", "1..2")
    lines = done.out.decode().splitlines()
    for line in ("fifo: as by default", "fair-queues: weights=qa:2", "las: queues=3",
                 "all: place=spread"):
        tap.ok(line, line in lines, done.shown())
    done = lab.run("compare", "--trace", trace, "--cluster", "1x1", "--policy", "fifo,las")
    lines = done.out.decode().splitlines()
    tap.ok("defaults are said too", "las: as by default" in lines and
           not any(line.startswith("all:") for line in lines), done.shown())
