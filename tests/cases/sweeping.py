"""sweeping.py - cases about studies: sweep, its threads, ranks, failures and resuming."""
import contextlib
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import time

from lab import Outcome, native, stream_of

# What differs between two runs of the same thing.
TIMING = {"created", "decide_mean_ms", "decide_p99_ms", "wall_s", "cpu_s", "peak_rss_mib"}
GRID = ("--grid", "policy=fifo,sjf", "--grid", "load=0.8,1.6", "--set", "place=random")
SEEDS = ("--seeds", "1..3")
ALLOW = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
         "ASAN_OPTIONS": "detect_leaks=0"}  # MPI has leaks of its own


def content(db):
    """{table: rows} of everything but timing."""
    found = {}
    with contextlib.closing(sqlite3.connect(db)) as connection:
        connection.text_factory = bytes
        tables = [row[0].decode() for row in connection.execute(
            "SELECT name FROM sqlite_schema WHERE type = 'table'")]
        for table in tables:
            columns = [row[1].decode() for row in connection.execute(f"PRAGMA table_info({table})")]
            kept = ",".join(f'"{name}"' for name in columns
                            if name not in TIMING and not name.endswith("_ms"))
            found[table] = connection.execute(
                f"SELECT {kept} FROM {table} ORDER BY 1, 2, 3").fetchall()
    return found


def names(lab, db):
    return [row[0].decode() for row in lab.query(db, "SELECT name FROM run ORDER BY id")]


def case_grid(lab, tap):
    """a sweep runs every combination, as single runs would"""
    db = lab.new_database()
    done = lab.run("sweep", *GRID, *SEEDS, "--db", db)
    tap.equal("exit code", done.code, 0)
    points = [(policy, load, seed) for policy in ("fifo", "sjf") for load in ("0.8", "1.6")
              for seed in (1, 2, 3)]
    tap.equal("a run a point, the first key slowest, seeds fastest", names(lab, db),
              [f"policy={p},load={x},seed={s}" for p, x, s in points])
    tap.equal("a row a combination", [line.split()[:3] for line in
                                      done.out.decode().splitlines()[1:5]],
              [[p, x, "3"] for p in ("fifo", "sjf") for x in ("0.8", "1.6")])
    alone = lab.new_database()
    for policy, load, seed in points[::5]:
        name = f"policy={policy},load={load},seed={seed}"
        lab.run("run", "--policy", policy, "--load", load, "--seed", str(seed), "--set",
                "place=random", "--label", name, "--db", alone)
        tap.equal(f"{name}: the jobs of a single run", lab.export(db, name),
                  lab.export(alone, name))
    objects = [json.loads(line) for line in
               lab.run("sweep", *GRID, *SEEDS, "--db", db, "--json").out.splitlines()]
    tap.equal("--json: an object a point", [o["run"] for o in objects], names(lab, db))
    means = {(o["policy"], o["label"].split("load=")[1][:3]): [] for o in objects}
    for o in objects:
        means[o["policy"], o["label"].split("load=")[1][:3]].append(o["metrics"]["jct_mean_s"])
    for line in done.out.decode().splitlines()[1:5]:
        word = line.split()
        mine = means[word[0], word[1]]
        tap.ok(f"{word[0]} {word[1]}: the mean over seeds", abs(float(word[3]) - sum(mine) / 3)
               <= 1e-4 * float(word[3]), (line, mine))
        low, high = (float(text.strip("[],")) for text in word[4:6])
        tap.ok("its interval lies within the seeds'", min(mine) * 0.9999 <= low <= high
               <= max(mine) * 1.0001, (line, mine))


def case_threads(lab, tap):
    """a sweep gives one content at any number of threads"""
    found = []
    for threads in ("1", "2", "8"):
        db = lab.new_database()
        done = lab.run("sweep", *GRID, *SEEDS, "-j", threads, "--db", db)
        tap.equal(f"-j {threads}: exit code", done.code, 0)
        found.append((content(db), done.out))
    tap.equal("twelve runs", len(found[0][0]["run"]), 12)
    tap.ok("the same content", found[0][0] == found[1][0] == found[2][0])
    tap.ok("the same table", found[0][1] == found[1][1] == found[2][1])


def long_sweep(lab, db):
    """A sweep of some seconds."""
    trace = lab.file("long.csv", native(*((f"j{i}", i % 997, 1 + i % 50, 1 + i % 2)
                                          for i in range(8000))))
    return [lab.program, "sweep", "--trace", trace, "--cluster", "4x8", "--grid",
            "policy=fifo,sjf,fifo-skip", "--grid", "rate_scale=1,2,4", "--seeds", "1..8", "--quiet",
            "--db", db]


def stopped_after(lab, command, db, n_runs, number):
    """Sends the signal once so many runs are stored; how it ended."""
    with subprocess.Popen(command, cwd=lab.folder, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE) as run:
        while run.poll() is None and len(lab.runs(db)) < n_runs:
            time.sleep(0.002)
        run.send_signal(number)
        out, err = run.communicate(timeout=60)
        return Outcome(run.returncode, out, err.decode(errors="replace"), 0)


def case_resume(lab, tap):
    """a sweep that was stopped goes on where it was"""
    whole = lab.new_database()
    done = lab.run(*long_sweep(lab, whole)[1:])
    tap.equal("left alone: exit code", done.code, 0)
    for number, code in ((signal.SIGKILL, -9), (signal.SIGTERM, 143)):
        db = lab.new_database()
        command = [*long_sweep(lab, db), "-j", "2"]
        cut = stopped_after(lab, command, db, 5, number)
        n = len(lab.runs(db))
        tap.equal(f"{number.name}: exit code", cut.code, code)
        tap.ok(f"{number.name}: some of it is stored, whole", 5 <= n < 72 and lab.intact(db) and
               set(lab.runs(db)) == {"complete"}, (n, lab.runs(db)))
        again = lab.run(*command[1:])
        tap.equal(f"{number.name}: the same command ends it", again.code, 0)
        tap.ok(f"{number.name}: the content is that of the sweep left alone",
               content(db) == content(whole))
        tap.equal(f"{number.name}: and so is the table", again.out, done.out)


def case_failing(lab, tap):
    """a point that fails is kept and reported, the others go on"""
    db = lab.new_database()
    lab.file("a.csv", stream_of(5))
    command = ("sweep", "--grid", "trace=a.csv,b.csv", "--grid", "policy=fifo,sjf", "--format",
               "pai", "--seeds", "1..2", "--cluster", "1x1", "--db", db)
    done = lab.run(*command)
    tap.equal("exit code", done.code, 1)
    tap.equal("the others are complete", lab.runs(db), ["complete"] * 4 + ["failed"] * 4)
    tap.ok("each is named with its reason", done.out.decode().count("b.csv: No such file") == 4 and
           "failed: trace=b.csv,policy=fifo,seed=1: " in done.out.decode(), done.shown())
    reasons = lab.query(db, "SELECT count(*), min(text) FROM event WHERE kind = 'error'")
    tap.ok("the database has the reasons", reasons[0][0] == 4 and b"b.csv" in reasons[0][1],
           reasons)
    lab.file("b.csv", stream_of(3))
    before = content(db)
    tap.equal("again: they stay failed", lab.run(*command).code, 1)
    tap.ok("and nothing is written", content(db) == before)
    tap.equal("--retry-failed: exit code", lab.run(*command, "--retry-failed").code, 0)
    tap.equal("all are complete", lab.runs(db), ["complete"] * 8)
    jobs = lab.query(db, "SELECT DISTINCT count(*) FROM job GROUP BY run ORDER BY 1")
    tap.equal("with the jobs of their traces", jobs, [(3,), (5,)])
    nothing = lab.run("sweep", "--grid", "trace=c.csv,d.csv", "--db", lab.new_database())
    tap.equal("all failed: exit code", nothing.code, 5)


def case_file(lab, tap):
    """a study file says what varies, the command line overrides it"""
    lab.file("t.csv", native(("a", 0, 10, 1), ("b", 0, 20, 2), ("c", 5, 10, 1)))
    study = {"name": "s", "settings": {"trace": "t.csv", "cluster": "1x2", "preempt": {
        "restart_s": 5}}, "variants": {"plain": {}, "short first": {"policy": "sjf"}},
        "grid": {"rate_scale": [1, 2.5]}, "seeds": [3, 4]}
    path = lab.file("study.json", json.dumps(study))
    db = lab.new_database()
    done = lab.run("sweep", path, "--policy", "fifo", "--db", db)
    tap.equal("exit code", done.code, 0)
    tap.equal("name, variants, grid, seeds", names(lab, db),
              [f"s,variant={v},rate_scale={r},seed={s}" for v in ("plain", "short first")
               for r in ("1", "2.5") for s in (3, 4)])
    tap.equal("settings of all and of each", lab.query(
        db, "SELECT policy, (SELECT value FROM setting WHERE run = id AND key = "
        "'preempt.restart_s') FROM run WHERE seed = 3 AND name LIKE '%=1,%'"),
        [(b"fifo", b"5"), (b"sjf", b"5")])
    # One GPU pair: fifo a 0-10, b 10-30, c 30-40 (mean JCT 25); sjf a, c, b (55 / 3)
    mean = lab.query(db, "SELECT round(value, 4) FROM metric, run WHERE id = run AND metric.name = "
                     "'jct_mean_s' AND seed = 3 AND run.name LIKE '%=1,%' ORDER BY run")
    tap.equal("and their outcomes", mean, [(25.0,), (18.3333,)])
    db = lab.new_database()
    done = lab.run("sweep", path, "--grid", "rate-scale=4", "--seeds", "7", "--label", "mine",
                   "--db", db)
    tap.equal("overridden", names(lab, db), ["mine,variant=plain,rate_scale=4,seed=7",
                                             "mine,variant=short first,rate_scale=4,seed=7"])
    for name, text, said in (("no JSON", '{"grid": \n oops}', "line 2, column"),
                             ("an unknown part", '{"girds": {}}', "girds"),
                             ("an unknown setting", '{"grid": {"lode": [1]}}', "load"),
                             ("a value out of range", '{"grid": {"load": [1, -1]}}', "load"),
                             ("a policy that is none", '{"grid": {"policy": ["fofi"]}}', "fofi"),
                             ("the same twice", '{"grid": {"load": [1, 1]}}', "twice"),
                             ("no list", '{"grid": {"load": 1}}', "array"),
                             ("seeds as an axis", '{"grid": {"seed": [1, 2]}}', "--seeds"),
                             ("no seeds", '{"seeds": []}', "1..5"),
                             ("bad seeds", '{"seeds": "5..1"}', "1..5")):
        wrong = lab.run("sweep", lab.file("wrong.json", text), "--db", lab.path("wrong.db"))
        tap.ok(f"{name}: exit 2, and it is named", wrong.code == 2 and said in wrong.err and
               not lab.runs(lab.path("wrong.db")), wrong.shown())
    for name, options in (("nothing varies", ("--db", "x.db")), ("no database", GRID),
                          ("no grid", ("--grid", "load", "--db", "x.db")),
                          ("an unknown column", (*GRID, "--metrics", "jct", "--db", "x.db"))):
        tap.equal(f"{name}: exit 2", lab.run("sweep", *options).code, 2)


def case_changed(lab, tap):
    """old results are not passed off as those of a changed study"""
    db = lab.new_database()
    lab.file("t.csv", native(("a", 0, 10, 1), ("b", 0, 20, 1)))
    command = ("sweep", "--grid", "policy=fifo,sjf", "--trace", "t.csv", "--cluster", "1x1", "--db",
               db)
    tap.equal("exit code", lab.run(*command).code, 0)
    more = lab.run(*command, "--seeds", "1..2")
    tap.ok("more seeds are more points", more.code == 0 and len(lab.runs(db)) == 4 and
           "2 of 4 points are in" in more.err, more.shown())
    wrong = lab.run(*command, "--set", "place=spread")
    tap.ok("another setting: exit 2, and which", wrong.code == 2 and "place" in wrong.err and
           "first-fit" in wrong.err, wrong.shown())
    tap.equal("under another label it is another study",
              lab.run(*command, "--set", "place=spread", "--label", "spread").code, 0)
    lab.file("t.csv", native(("a", 0, 11, 1), ("b", 0, 20, 1)))
    wrong = lab.run(*command)
    tap.ok("another trace under its name: exit 3", wrong.code == 3 and "has changed" in wrong.err,
           wrong.shown())
    tap.equal("nothing was added", len(lab.runs(db)), 6)


def ranks(lab, n, *args):
    """colosim ARGS... under mpirun, or None where there is none."""
    program = shutil.which("mpirun")
    if program is None or "MPI: yes" not in lab.run("--version").out.decode():
        return None
    return lab.run("--oversubscribe", "-n", str(n), lab.program, *args, program=program, env=ALLOW)


def case_ranks(lab, tap):
    """ranks under mpirun give the content of one"""
    db = lab.new_database()
    one = lab.run("sweep", *GRID, *SEEDS, "--db", db)
    wanted = content(db)
    if ranks(lab, 1, "--version") is None:
        tap.skip("mpirun", "no mpirun, or built without MPI")
        return
    for n, threads in ((1, "1"), (2, "1"), (3, "2")):
        db = lab.new_database()
        done = ranks(lab, n, "sweep", *GRID, *SEEDS, "-j", threads, "--db", db)
        tap.equal(f"{n} ranks of {threads} threads: exit code", done.code, 0)
        tap.ok("the content of one process", content(db) == wanted, done.shown())
        tap.ok("and its table, once", done.out == one.out, done.shown())
    study = lab.file("s.json", json.dumps({"grid": {"trace": ["a.csv", "b.csv", "c.csv"]},
                                           "settings": {"format": "pai", "cluster": "1x1"}}))
    lab.file("a.csv", stream_of(5))
    lab.file("c.csv", stream_of(4))
    db, alone = lab.new_database(), lab.new_database()
    done = ranks(lab, 3, "sweep", study, "--db", db)
    tap.equal("a point that fails: exit code", done.code, 1)
    tap.equal("the others are complete", lab.runs(db), ["complete", "failed", "complete"])
    tap.equal("one process says the same", lab.run("sweep", study, "--db", alone).out, done.out)
    tap.ok("and stores the same", content(db) == content(alone))
    wrong = ranks(lab, 2, "sweep", "--grid", "policy=fofi,fifo", "--db", lab.path("n.db"))
    tap.ok("what is wrong for all is said once", wrong.code == 2 and wrong.err.count("fofi") == 1,
           wrong.shown())
    wrong = ranks(lab, 2, "sweep", "--db", lab.path("n.db"))
    tap.ok("usage as well", wrong.code == 2 and wrong.err.count("what varies") == 1, wrong.shown())
    wrong = ranks(lab, 2, "sweep", *GRID, "--db", "/nowhere/x.db")
    tap.ok("a database that cannot be: exit 4", wrong.code == 4, wrong.shown())


def case_ranks_killed(lab, tap):
    """ranks that were killed go on, with fewer or more of them"""
    if ranks(lab, 1, "--version") is None:
        tap.skip("mpirun", "no mpirun, or built without MPI")
        return
    whole, db = lab.new_database(), lab.new_database()
    lab.run(*long_sweep(lab, whole)[1:])
    environment = os.environ | ALLOW
    for n, number in ((2, signal.SIGKILL), (3, signal.SIGTERM)):
        db = lab.new_database()
        command = ["mpirun", "--oversubscribe", "-n", str(n), *long_sweep(lab, db)]
        with subprocess.Popen(command, cwd=lab.folder, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL, env=environment) as run:
            while run.poll() is None and len(lab.runs(db)) < 5:
                time.sleep(0.002)
            run.send_signal(number)
            tap.ok(f"{number.name}: mpirun did not end well", run.wait(timeout=60) != 0)
        time.sleep(0.5)  # orphans of a killed mpirun end by themselves
        stored = len(lab.runs(db))
        tap.ok(f"{number.name}: some of it is stored, whole", 5 <= stored <= 72 and lab.intact(db),
               stored)
        tap.equal("one process ends it", lab.run(*long_sweep(lab, db)[1:]).code, 0)
        tap.ok("with the content of a sweep left alone", content(db) == content(whole))


def case_twice(lab, tap):
    """two sweeps of one study at one time share what they store"""
    whole, db = lab.new_database(), lab.new_database()
    lab.run(*long_sweep(lab, whole)[1:])
    command = [*long_sweep(lab, db), "-j", "1"]
    with contextlib.ExitStack() as stack:
        both = [stack.enter_context(subprocess.Popen(command, cwd=lab.folder,
                                                     stdout=subprocess.DEVNULL)) for _ in "ab"]
        tap.equal("exit codes", [run.wait(timeout=120) for run in both], [0, 0])
    tap.ok("the content of one alone", content(db) == content(whole))
