"""outside.py - cases about policies outside the tree: shared objects and programs."""
import pathlib

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
    more = native(("a", 0, 10, 1), ("p", 0, 30, 1), ("b", 1, 5, 1), ("c", 2, 5, 2))
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
