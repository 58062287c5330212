"""outside.py - cases about policies outside the tree: shared objects and programs."""
import json
import pathlib
import random

from lab import native

EXAMPLES = pathlib.Path(__file__).parents[2] / "scripts" / "examples"
# One GPU: a runs 0-10, then b and c wait; lifo takes c (10-20) before b (20-30).
TRACE = native(("a", 0, 10, 1), ("b", 1, 10, 1), ("c", 2, 10, 1))


def module(lab, name):
    return str(pathlib.Path(lab.program).parent / "tests" / f"{name}.so")


def case_shared_object(lab, tap):
    """a policy from a shared object"""
    db = lab.new_database()
    run = lab.replay(TRACE, "1x1", "--label", "l", policy=module(lab, "lifo"), db=db)
    tap.equal("exit code", run.code, 0)
    tap.equal("it decides", run.column("start_s"), {"a": 0, "b": 20, "c": 10})
    tap.equal("under its own name", run.summary["policy"], "lifo")
    # From 10 one card is free, from 30 both: b fits at 10, c at 30. With a depth of one only c, the
    # last, is looked at until it starts.
    more = native(("a", 0, 10, 1), ("p", .5, 29.5, 1), ("b", 1, 5, 1), ("c", 2, 5, 2))
    for depth, b, c in (("1", 35, 30), ("2", 10, 30)):
        run = lab.replay(more, "1x2", "--set", f"lifo.depth={depth}", policy=module(lab, "lifo"),
                         db=db)
        tap.equal(f"its settings: depth {depth}", (run.jobs["b"]["start_s"],
                                                   run.jobs["c"]["start_s"]), (b, c))
    stored = lab.query(db, "SELECT value FROM setting WHERE key = 'lifo.depth' ORDER BY run")
    tap.equal("and they are stored", stored, [(b"1000000",), (b"1",), (b"2",)])
    wrong = lab.run("run", "--policy", module(lab, "lifo"), "--set", "lifo.depht=1")
    tap.ok("a misspelt one: exit 2", wrong.code == 2 and "lifo.depth" in wrong.err, wrong.shown())
    done = lab.run("compare", "--policy", f"fifo,{module(lab, 'lifo')}", "--set",
                   "trace.synth_seed=3", "-j", "2")
    tap.ok("compare and its threads", done.code == 0 and "\nlifo " in done.out.decode(),
           done.shown())
    done = lab.run("sweep", "--grid", f"policy=fifo,{module(lab, 'lifo')}", "--db",
                   lab.new_database())
    tap.equal("sweep", done.code, 0)
    for name, said in (("old_abi", "ABI"), ("taken_name", "'fifo' already"),
                       ("no_policy", "exports no colosim_policy"), ("not_there", "not_there.so")):
        wrong = lab.run("run", "--policy", module(lab, name))
        tap.ok(f"{name}: exit 2, and why", wrong.code == 2 and said in wrong.err, wrong.shown())


FIFO = f"exec:python3 {EXAMPLES / 'fifo.py'}"


def program(lab, name, *answers):
    """A policy that says these lines, one a view, then ends; Python in braces is evaluated."""
    body = "".join(f"    sys.stdin.readline(); {answer}\n" for answer in answers)
    return "exec:python3 " + lab.file(name, "import sys, time, os\nif sys.stdin.readline():\n" + body)


def plan(text):
    return f"print('{text}', flush=True)"


def case_program(lab, tap):
    """a policy that is a program: FIFO in Python decides as fifo does"""
    dice = random.Random(7)
    rows = [(f"j{i}", dice.randrange(3000), dice.randrange(1, 400),
             dice.choice((.25, .5, 1, 1, 1, 2, 4)), dice.choice((1, 1, 1, 2))) for i in range(400)]
    trace = native(*rows, head="job,submit_s,duration_s,gpu,instances")
    ours = lab.replay(trace, "2x4+1x2", policy="fifo")
    its = lab.replay(trace, "2x4+1x2", policy=FIFO)
    tap.equal("exit code", its.code, 0)
    tap.ok("there was a queue", ours.metrics["wait_mean_s"] > 100, ours.metrics)
    tap.ok("the same jobs at the same times", its.jobs == ours.jobs)
    done = lab.run("sweep", "--grid", f"policy=fifo,{FIFO}", "--seeds", "1..2", "-j", "2", "--json",
                   "--db", lab.new_database())
    runs = [json.loads(line)["metrics"] for line in done.out.splitlines()]
    tap.ok("in a sweep, two at a time", done.code == 0 and runs[:2] == runs[2:], done.shown())


def case_program_decides(lab, tap):
    """a program starts where it says, evicts and is woken"""
    two = native(("a", 0, 10, 1), ("b", 0, 10, 1))
    policy = program(lab, "where.py", plan('{"start": [{"job": 1, "nodes": [1]}], "wake_s": 3}'),
                     plan('{"evict": [1], "start": [{"job": 0, "nodes": [1, 0]}], "wake_s": 4}'),
                     plan('{"try": [1]}'), plan("{}"), plan("{}"), plan("{}"))
    db = lab.new_database()
    run = lab.replay(two, "2x1", "--set", "preempt.restart_s=5", policy=policy, db=db)
    # b on node 1 0-3, sent back, a there 3-13; b again from 4 with 7 s left after 5 s of restart
    tap.equal("starts and ends", (run.column("start_s"), run.column("finish_s")),
              ({"a": 3, "b": 0}, {"a": 13, "b": 16}))
    spans = lab.query(db, "SELECT job, start_us / 1000000, node FROM span ORDER BY start_us")
    tap.equal("on which nodes", spans, [(1, 0, 1), (0, 3, 1), (1, 4, 0)])


def case_program_fails(lab, tap):
    """a program that fails ends the run, with the pass and why"""
    one = lab.file("one.csv", native(("a", 0, 10, 1), ("b", 5, 10, 1)))
    start = plan('{"start": [0]}')
    for name, answers, code, said in (
            ("crash", (start, "os._exit(3)"), 3, ("pass 1", "t = 5 s", "status 3")),
            ("killed", (start, "os.kill(os.getpid(), 9)"), 3, ("pass 1", "signal 9")),
            ("ends", (start,), 3, ("pass 1", "status 0")),
            ("hangs", ("time.sleep(9)",), 3, ("pass 0", "0.5 s")),
            ("full", (start, plan('{"start": [1]}')), 3, ("pass 1", "job 1 (b)", "not fit")),
            ("twice", (start, plan('{"try": [0]}')), 3, ("pass 1", "job 0 (a)", "not wait")),
            ("idle", (start, plan('{"evict": [1]}')), 3, ("pass 1", "job 1 (b)", "not run")),
            ("nobody", (plan('{"start": [2]}'),), 3, ("pass 0", "0 to 1")),
            ("nowhere", (plan('{"start": [{"job": 0, "nodes": [7]}]}'),), 3, ("no such node",)),
            ("words", (plan("hello"),), 3, ("pass 0", "no JSON")),
            ("list", (plan("[]"),), 3, ("no JSON object",)),
            ("part", (plan('{"strat": [0]}'),), 3, ("strat",))):
        done = lab.run("run", "--trace", one, "--cluster", "1x1", "--policy-timeout-s", "0.5",
                       "--policy", program(lab, f"{name}.py", *answers))
        tap.ok(f"{name}: exit {code}, and what is said", done.code == code and
               all(word in done.err for word in said), done.shown())
        tap.ok(f"{name}: soon", done.seconds < 8, done.seconds)
    done = lab.run("run", "--policy", "exec:no-such-program-here")
    tap.equal("no such program: exit 6", done.code, 6)
    db = lab.new_database()
    done = lab.run("sweep", "--grid", f"policy=fifo,{program(lab, 'crash.py', 'os._exit(3)')}", "--db",
                   db)
    tap.ok("in a sweep the others go on", done.code == 1 and lab.runs(db) == ["complete", "failed"],
           done.shown())
