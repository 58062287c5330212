"""comparing.py - cases about compare over seeds, diff, capacity and why."""
import json

from lab import native

TRACE = native(("a", 0, 10, 1), ("b", 0, 20, 2), ("c", 5, 10, 1))
# On two GPUs, fifo: a 0-10, b 10-30, c 30-40; sjf: a 0-10, c 5-15, b 15-35.


def case_compare_seeds(lab, tap):
    """compare gives intervals over seeds"""
    db = lab.new_database()
    done = lab.run("compare", "--policy", "fifo,srtf", "--seeds", "1..3", "--db", db)
    lines = done.out.decode().splitlines()
    tap.equal("exit code", done.code, 0)
    tap.equal("a row, from and to for each", [line.split()[0] for line in lines[1:7]],
              ["fifo", "from", "to", "srtf", "from", "to"])
    values = {policy: [row[0] for row in lab.query(
        db, "SELECT value FROM metric JOIN run ON id = run WHERE metric.name = 'jct_mean_s' AND "
        "policy = ? ORDER BY seed", policy)] for policy in ("fifo", "srtf")}
    tap.ok("seeds draw traces of their own", len(set(values["fifo"])) == 3, values)
    for at, policy in ((1, "fifo"), (4, "srtf")):
        mean, low, high = (float(lines[at + i].split()[2 if i == 0 else 1]) for i in range(3))
        mine = values[policy]
        tap.ok(f"{policy}: the mean", abs(mean - sum(mine) / 3) < 1e-4 * mean, (mean, mine))
        # of three values each end is drawn with probability 1/27 = 3.7 %, more than 2.5 %
        tap.ok("from the least to the largest seed", abs(low - min(mine)) < 1e-4 * mean and
               abs(high - max(mine)) < 1e-4 * mean, (low, high, mine))
    one = lab.run("compare", "--policy", "fifo,srtf", "--set", "trace.synth_seed=7", "--seeds",
                  "1..2", "--json").out.splitlines()
    jcts = [json.loads(line)["metrics"]["jct_mean_s"] for line in one]
    tap.ok("trace.synth_seed keeps one trace for all", jcts[0] == jcts[1] != values["fifo"][0],
           jcts)


def case_diff_runs(lab, tap):
    """diff of two runs pairs their jobs"""
    db, other = lab.new_database(), lab.new_database()
    lab.replay(TRACE, "1x2", "--label", "first", db=db)
    lab.replay(TRACE, "1x2", "--label", "second", policy="sjf", db=db)
    found = json.loads(lab.run("diff", "first", "second", "--db", db, "--json").out)
    tap.equal("paired by", (found["paired_by"], found["pairs"], found["unpaired"]), ("job", 3, 0))
    # JCT 10, 30, 35 and 10, 35, 10; waits 0, 10, 25 and 0, 15, 0
    jct, wait = found["metrics"]["jct_mean_s"], found["metrics"]["wait_mean_s"]
    tap.near("mean JCT", [jct["a"], jct["b"], jct["difference"], jct["ratio"]],
             [25, 55 / 3, -20 / 3, 55 / 75])
    tap.near("mean wait", [wait["a"], wait["b"]], [35 / 3, 5])
    tap.near("median JCT", [found["metrics"]["jct_p50_s"][side] for side in "ab"], [30, 10])
    tap.ok("intervals for what jobs tell, none for the rest", jct["lo"] <= -20 / 3 <= jct["hi"] and
           found["metrics"]["makespan_s"]["lo"] is None, found)
    tap.near("makespan", [found["metrics"]["makespan_s"][side] for side in "ab"], [40, 35])
    same = json.loads(lab.run("diff", "first", "first", "--db", db, "--json").out)
    tap.equal("a run beside itself", {(m["difference"], m["lo"] or 0, m["hi"] or 0)
                                      for m in same["metrics"].values()}, {(0, 0, 0)})
    lab.replay(native(("a", 0, 12, 1), ("z", 0, 20, 2)), "1x2", "--label", "first", db=other)
    across = json.loads(lab.run("diff", "first", "last", "--db", db, "--db", other, "--json").out)
    tap.equal("across databases, by name: a; b, c and z are left out",
              (across["pairs"], across["unpaired"], across["metrics"]["jct_mean_s"]["b"]),
              (1, 3, (12 + 32) / 2))
    text = lab.run("diff", "first", "second", "--db", db).out.decode()
    tap.ok("the table names both", "A: first\nB: second\n3 jobs ended in both" in text, text)
    for name, args, code in (("an unknown run", ("first", "secnod", "--db", db), 2),
                             ("one run only", ("first", "--db", db), 2),
                             ("no database", ("first", "second"), 2),
                             ("a database that is not there", ("a", "b", "--db", "none.db"), 3)):
        wrong = lab.run("diff", *args)
        tap.ok(f"{name}: exit {code}", wrong.code == code and wrong.err, wrong.shown())


def case_diff_groups(lab, tap):
    """diff of groups pairs them by seed"""
    db = lab.new_database()
    lab.run("sweep", "--grid", "policy=fifo,srtf", "--grid", "load=0.8,1.2", "--seeds", "1..4",
            "--db", db)
    lab.run("compare", "--policy", "fifo,sjf", "--seeds", "3..6", "--label", "base", "--db", db)

    def diff(a, b):
        return json.loads(lab.run("diff", a, b, "--db", db, "--json").out)

    def values(where):
        return [row[0] for row in lab.query(
            db, "SELECT value FROM metric JOIN run ON id = run WHERE metric.name = 'jct_mean_s' AND "
            f"run.name LIKE '{where}' ORDER BY seed")]

    one = diff("policy=fifo,load=0.8", "policy=srtf,load=0.8")
    a, b = values("policy=fifo,load=0.8%"), values("policy=srtf,load=0.8%")
    jct = one["metrics"]["jct_mean_s"]
    tap.equal("paired by", (one["paired_by"], one["pairs"], one["unpaired"]), ("seed", 4, 0))
    tap.near("the mean of the differences", jct["difference"],
             sum(y - x for x, y in zip(a, b)) / 4, 1e-6)
    each = sorted(y - x for x, y in zip(a, b))
    tap.ok("its interval lies within them", each[0] <= jct["lo"] <= jct["hi"] <= each[-1],
           (each, jct))
    again = diff("load=0.8,policy=fifo", "policy=srtf,load=0.8")
    tap.equal("settings in any order", again["metrics"], one["metrics"])
    named = diff("base-fifo", "base-sjf")
    tap.equal("what compare has labelled", (named["pairs"], named["metrics"]["jct_mean_s"]["a"]),
              (4, sum(values("base-fifo-%")) / 4))
    part = diff("policy=fifo,load=1.2", "base-fifo")
    tap.equal("seeds in both only", (part["pairs"], part["unpaired"]), (2, 4))
    wide = lab.run("diff", "policy=fifo", "policy=srtf", "--db", db)
    tap.ok("several runs of a seed: exit 2", wide.code == 2 and "seed 1" in wide.err, wide.shown())
    apart = lab.run("diff", "policy=fifo,load=0.8,seed=1", "policy=nobody", "--db", db)
    tap.ok("nobody: exit 2", apart.code == 2 and "nobody" in apart.err, apart.shown())


def case_capacity(lab, tap):
    """capacity finds the smallest cluster"""
    lab.file("four.csv", native(*((name, 0, 10, 1) for name in "abcd")))
    # four jobs of 10 s on n cards: mean JCT 25, 15, 12.5 and 10 s
    options = ("--trace", "four.csv", "--policy", "fifo", "--json")

    def smallest(cluster, *targets, code=0):
        done = lab.run("capacity", "--cluster", cluster, *options,
                       *(word for target in targets for word in ("--target", target)))
        tap.equal(f"{cluster} {targets}: exit code", done.code, code)
        return json.loads(done.out)["nodes"] if done.out else done.err

    for first in ("1x1", "3x1", "50x1"):
        for target, nodes in ((30, 1), (15, 2), (14.9, 3), (12.5, 3), (12, 4), (10, 4)):
            tap.equal(f"from {first}, mean JCT {target}", smallest(first, f"jct_mean_s={target}"),
                      nodes)
    tap.equal("nodes of four", smallest("1x4", "jct_mean_s=10"), 1)
    tap.equal("two targets", smallest("1x1", "jct_mean_s=15", "wait_max_s=0"), 4)
    tap.equal("more is better", smallest("1x1", "throughput_gpus=3.9"), 4)
    tap.equal("never", smallest("1x1", "jct_mean_s=9", code=1), None)
    lab.file("wide.csv", native(("w", 0, 10, 8), head="job,submit_s,duration_s,gpu"))
    wide = ("capacity", "--trace", "wide.csv", "--cluster", "1x4", "--max-nodes", "4", "--target")
    tap.equal("a job that no node holds: exit code", lab.run(*wide, "jct_mean_s=99").code, 1)
    gone = lab.run(*wide, "makespan_s=99", "--target", "jobs_rejected=1")
    tap.equal("a metric that cannot be told is not met", gone.code, 1)
    for name, args, said in (("a load", ("--load", "1", "--target", "jct_mean_s=9"), "rate-scale"),
                             ("a mixed cluster", ("--cluster", "1x1+1x2", "--target",
                                                  "jct_mean_s=9"), "one kind"),
                             ("no metric", ("--target", "jct=9"), "METRIC"),
                             ("a metric without better", ("--target", "events=9"), "METRIC"),
                             ("a run without a database", ("--target", "jct_mean_s=base"), "--db"),
                             ("a policy", ("--target", "jct_mean_s=9", "--policy", "fofi"), "fofi"),
                             ("no target", (), "--target")):
        wrong = lab.run("capacity", *args)
        tap.ok(f"{name}: exit 2", wrong.code == 2 and said in wrong.err, wrong.shown())


def case_capacity_search(lab, tap):
    """capacity agrees with trying every size, and keeps its runs"""
    db = lab.new_database()
    options = ("--cluster", "1x8", "--set", "place=spread", "--seeds", "1..2")
    done = lab.run("capacity", *options, "--policy", "fifo,srtf", "--target", "wait_p90_s=3000",
                   "--db", db)
    tap.equal("exit code", done.code, 0)
    found = [line.split() for line in done.out.decode().splitlines()[-2:]]
    for policy, line in zip(("fifo", "srtf"), found):
        nodes = 1
        while True:
            waits = [json.loads(lab.run("run", *options[:4], "--policy", policy, "--set",
                                        f"nodes={nodes}", "--seed", seed, "--json", "--quiet").out)
                     ["metrics"]["wait_p90_s"] for seed in "12"]
            if sum(waits) / 2 <= 3000:
                break
            nodes += 1
        tap.equal(f"{policy}: the first size that is enough", line[:3],
                  [policy + ":", str(nodes), "nodes,"])
    before = len(lab.runs(db))
    again = lab.run("capacity", *options, "--policy", "fifo,srtf", "--target", "wait_p90_s=3000",
                    "--db", db)
    tap.ok("again: the same answer from what is stored", again.out == done.out and
           len(lab.runs(db)) == before, again.shown())
    lab.run("run", *options[:4], "--policy", "srtf", "--set", "nodes=9", "--label", "nine", "--db",
            db)
    like = lab.run("capacity", *options[:4], "--policy", "srtf", "--target", "jct_mean_s=nine",
                   "--db", db, "--json")
    tap.equal("a target that a run gives: its own size is enough",
              json.loads(like.out)["nodes"] <= 9, True)


def why(lab, db, run, job):
    return json.loads(lab.run("why", run, job, "--db", db, "--json").out)


def stretches(found):
    return [(s["from_s"], s["to_s"], s["why"], s["free_min"], s["free_max"])
            for s in found["stretches"]]


def case_why(lab, tap):
    """why says what stood in a job's way"""
    db = lab.new_database()
    lab.replay(TRACE, "1x2", "--label", "fifo", db=db)
    # c comes at 5: one GPU is free, but b, which needs two, is ahead; from 10 to 30 b has both
    c = why(lab, db, "fifo", "c")
    tap.equal("held back, then full", stretches(c), [(5, 10, "held back", 1, 1),
                                                     (10, 30, "full", 0, 0)])
    tap.equal("behind b, which then freed it", (c["stretches"][0]["first_ahead"], c["freed_by"],
                                                c["overtaken_by"]), ("b", "b", 0))
    tap.equal("b itself: one GPU is too few",
              stretches(why(lab, db, "fifo", "b")), [(0, 10, "full", 1, 1)])
    tap.equal("a did not wait", stretches(why(lab, db, "fifo", "a")), [])
    text = lab.run("why", "fifo", "c", "--db", db).out.decode()
    for words in ("submitted at 5 s, started at 30 s", "waited 25 s in all", "it started when b ended",
                  "fifo did not start it; 1 submitted earlier waited too, first b"):
        tap.ok(f"in words: {words}", words in text, text)
    lab.replay(TRACE, "1x2", "--label", "sjf", policy="sjf", db=db)
    tap.equal("sjf lets c overtake b", why(lab, db, "sjf", "b")["overtaken_by"], 1)
    # One GPU on each of two nodes is free until 60; w wants two on one
    lab.replay(native(("x", 0, 100, 1), ("y", 0, 60, 1), ("w", 1, 10, 2)), "2x2", "--set",
               "place=spread", "--label", "apart", db=db)
    tap.equal("scattered", stretches(why(lab, db, "apart", "w")), [(1, 60, "scattered", 2, 2)])
    # Halves: 0.5 + 0.25 leave a quarter of the one card; h wants a half
    lab.replay(native(("p", 0, 50, 0.5), ("q", 0, 20, 0.25), ("h", 1, 10, 0.5)), "1x1", "--label",
               "parts", db=db)
    tap.equal("parts of a card", stretches(why(lab, db, "parts", "h")), [(1, 20, "full", .25, .25)])
    # l runs 0-5, s 5-15 in its place, then l again
    lab.replay(native(("l", 0, 100, 1), ("s", 5, 10, 1)), "1x1", "--label", "evicted",
               policy="srtf", db=db)
    tap.equal("a wait in the middle", stretches(why(lab, db, "evicted", "l")),
              [(5, 15, "full", 0, 0)])
    lab.replay(native(("big", 0, 10, 4), ("a", 0, 10, 1)), "1x2", "--label", "small", db=db)
    big = lab.run("why", "small", "big", "--db", db).out.decode()
    tap.ok("rejected, and why", "never started (rejected)" in big and "no empty cluster" in big, big)
    for args, said in ((("fifo", "d", "--db", db), "'d'"), (("fofi", "c", "--db", db), "fofi"),
                       (("fifo", "--db", db), "which job"), (("fifo", "c"), "--db")):
        wrong = lab.run("why", *args)
        tap.ok(f"{args[:2]}: exit 2", wrong.code == 2 and said in wrong.err, wrong.shown())


def case_why_adds_up(lab, tap):
    """the stretches of why add up to the waits of the run"""
    db = lab.new_database()
    lab.run("run", "--policy", "easy-backfill", "--db", db, "--label", "r")
    jobs = lab.query(db, "SELECT name, wait_s FROM job WHERE wait_s > 0 ORDER BY job")
    for name, wait in jobs[::40]:
        found = why(lab, db, "r", name.decode())
        tap.near(f"{name.decode()}: in all", sum(found["waited"].values()), wait, 1e-5)
        tap.near("from the first to the last", [found["stretches"][0]["from_s"],
                                                found["stretches"][-1]["to_s"]],
                 [found["submit_s"], found["start_s"]])
