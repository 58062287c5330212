"""storing.py - cases about settings, the database and what cannot be written."""
import hashlib
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import xml.etree.ElementTree as xml

from lab import V100, pai_row, stream_of

NOBODY = 65534


def mixed_stream(seed, n=200):
    """PAI rows of several widths, out of order, on a cluster that is too small for them."""
    dice = random.Random(seed)
    rows = []
    for i in range(n):
        start = dice.randrange(600)
        rows.append(pai_row(f"j{i:03d}", start, start + dice.randrange(30, 300),
                            gpu=dice.choice((25, 50, 100, 100, 200, 400))))
    return "".join(rows)


PLACES = ("SELECT job, task, start_us, node, gpu FROM span "
          "WHERE run = (SELECT id FROM run WHERE {}) ORDER BY 1, 2, 3, 4, 5")
TWO_NODES = "m1,V100,96,512,8\nm2,V100,96,512,8\n"


def case_02(lab, tap):
    """02 a regression gate"""
    cluster = lab.file("pai_machine_spec.csv", V100.format(1))
    db, baseline, junit = lab.path("r.db"), lab.path("base.json"), lab.path("out.xml")
    for name, end in (("base", 100), ("new", 104)):
        lab.replay(lab.file(f"{name}.csv", pai_row("a", 0, end)), cluster, "--label", name, db=db)
    saved = lab.run("check", "--db", db, "--run", "base", "--save", baseline)
    tap.equal("saving a baseline: exit code", saved.code, 0)

    def gate(tolerance, file=baseline):
        return lab.run("check", "--db", db, "--run", "new", "--baseline", file,
                       "--tol", f"jct_mean_s={tolerance}", "--junit", junit)

    for tolerance, code, failures in (("5%", 0, 0), ("3%", 1, 1), ("±5%", 0, 0), ("±3%", 1, 1)):
        done = gate(tolerance)
        tap.equal(f"tolerance {tolerance}: exit code", done.code, code)
        suites = xml.parse(junit).getroot()
        tap.equal(f"tolerance {tolerance}: failures in the XML",
                  len(suites.findall(".//failure")), failures)
        tap.ok(f"tolerance {tolerance}: the change is shown", "4.0" in done.said, done.shown())
    missing = gate("5%", lab.path("none.json"))
    tap.ok("no baseline is an error of its own", missing.code not in (0, 1) and
           "none.json" in missing.err, missing.shown())
    better = lab.run("check", "--db", db, "--run", "new", "--baseline", baseline,
                     "--tol", "jct_meen_s=5%")
    tap.equal("a metric that does not exist: exit code", better.code, 2)


def case_03(lab, tap):
    """03 the same seed at any number of threads"""
    trace = lab.file("trace.csv", mixed_stream(3))
    cluster = lab.file("pai_machine_spec.csv", TWO_NODES)
    options = ["--set", "place=random"]
    tables, places = [], []

    def keep(db, run):
        tables.append(hashlib.sha256(lab.export(db, run)).hexdigest())
        places.append(lab.query(db, PLACES.format("name = ?"), run))

    for _ in range(2):
        db = lab.new_database()
        run = lab.replay(trace, cluster, "--seed", "42", *options, db=db)
        keep(db, run.summary["run"])
    for threads in (1, 2, 8):
        db = lab.new_database()
        done = lab.run("compare", "--trace", trace, "--cluster", cluster, "--policy", "fifo",
                       "--seeds", "42..44", "-j", str(threads), "--db", db, *options)
        tap.equal(f"compare, {threads} threads: exit code", done.code, 0)
        named = lab.query(db, "SELECT name FROM run WHERE seed = 42")
        keep(db, named[0][0].decode())
    tap.equal("one job table in all five", len(set(tables)), 1)
    tap.ok("and the same places", places[0] and all(place == places[0] for place in places))
    other = lab.query(db, PLACES.format("seed = ?"), 43)
    tap.ok("another seed places otherwise", other and other != places[0])
    tap.equal("seeds are stored", lab.query(db, "SELECT seed FROM run ORDER BY seed"),
              [(42,), (43,), (44,)])


def case_ten_runs(lab, tap):
    """03b ten runs with one seed"""
    trace = lab.file("trace.csv", mixed_stream(3))
    cluster = lab.file("pai_machine_spec.csv", TWO_NODES)
    for policy in ("fifo-skip", "las"):
        given = set()
        for _ in range(10):
            db = lab.new_database()
            run = lab.replay(trace, cluster, "--set", "place=random", policy=policy, db=db)
            parts = [lab.run("export", "--db", db, f"--{part}", "-").out for part in
                     ("jobs", "spans", "metrics", "samples", "events", "chrome-trace")]
            given.add((json.dumps(run.metrics), *parts))
        tap.equal(f"{policy}: everything exported is the same bytes", len(given), 1)


def as_nobody():
    os.setgid(NOBODY)
    os.setuid(NOBODY)


def case_06(lab, tap):
    """06 results that cannot be written"""
    lab.folder.chmod(0o755)
    program = shutil.copy(lab.program, lab.path("colosim"))  # within reach of any user
    trace = lab.file("trace.csv", stream_of(200))
    cluster = lab.file("pai_machine_spec.csv", V100.format(8))
    closed = lab.folder / "closed"
    closed.mkdir()
    old = lab.file("closed/old.db", b"")
    lab.replay(trace, cluster, db=lab.path("good.db"))
    shutil.copy(lab.path("good.db"), old)
    before = (closed / "old.db").read_bytes()
    os.chmod(old, 0o444)
    closed.chmod(0o555)
    more = {"preexec_fn": as_nobody} if os.geteuid() == 0 else {}
    try:
        lab.run("--help", program=program, **more)
    except (OSError, subprocess.SubprocessError) as problem:
        tap.skip("root could not drop its rights", str(problem))
        return
    for what, db, reasons in (
            ("a folder without write permission", str(closed / "new.db"), ("ermission",)),
            ("a folder that does not exist", lab.path("none/new.db"), ("No such", "not exist")),
            ("a read-only file", old, ("ermission", "read-only", "readonly"))):
        done = lab.run("run", "--trace", trace, "--cluster", cluster, "--policy", "fifo",
                       "--db", db, program=program, **more)
        tap.equal(f"{what}: exit code", done.code, 4)
        tap.ok(f"{what}: at once", done.seconds < 5, done.seconds)
        tap.ok(f"{what}: path and reason", db in done.err and
               any(reason in done.err for reason in reasons), done.err)
        tap.ok(f"{what}: nothing was run", not done.out and len(done.err.splitlines()) == 1,
               done.shown())
    tap.equal("nothing is created", sorted(path.name for path in closed.iterdir()), ["old.db"])
    tap.ok("nothing is changed", (closed / "old.db").read_bytes() == before)
    closed.chmod(0o755)


def case_09(lab, tap):
    """09 a typing error in the configuration"""
    lab.file("trace.csv", stream_of(3))
    deep = 20000
    for name, text, words in (
            ("typo", '{"policy": "fifo", "sede": 7}', ("sede", "seed")),
            ("wrong type", '{"policy": "fifo", "seed": "seven"}', ("seed",)),
            ("twice", '{"policy": "fifo", "seed": 7, "seed": 8}', ("seed",)),
            ("unknown policy", '{"policy": "fifoo"}', ("fifoo", "fifo-skip", "sjf")),
            ("deep list", "[" * deep + "]" * deep, ("deep.json",)),
            ("deep object", '{"a":' * deep + "1" + "}" * deep, ("deep.json",)),
            ("no JSON", "policy = fifo", ("conf.json",))):
        config = lab.file("deep.json" if "deep" in name else "conf.json", text)
        db = lab.new_database()
        done = lab.run("run", "--config", config, "--trace", lab.path("trace.csv"),
                       "--cluster", "1x8", "--db", db)
        tap.equal(f"{name}: exit code", done.code, 2)
        tap.ok(f"{name}: at once", done.seconds < 5, done.seconds)
        tap.ok(f"{name}: the message says it", all(word in done.err for word in words), done.err)
        tap.equal(f"{name}: no run recorded", lab.runs(db), [])
    for name, options in (("--set", ["--set", "sede=7"]), ("--seed", ["--seed", "seven"]),
                          ("--policy", ["--policy", "fifoo"]), ("an option", ["--sede", "7"]),
                          ("a number out of range", ["--rate-scale", "-1"])):
        done = lab.run("run", "--trace", lab.path("trace.csv"), "--cluster", "1x8", *options)
        tap.equal(f"{name} misspelt on the command line: exit code", done.code, 2)


def case_21(lab, tap):
    """21 eight runs into one new database"""
    trace = lab.file("trace.csv", mixed_stream(21))
    cluster = lab.file("pai_machine_spec.csv", TWO_NODES)
    db = lab.path("r.db")
    runs = [subprocess.Popen([lab.program, "run", "--trace", trace, "--cluster", cluster,
                              "--policy", "fifo", "--set", "place=random", "--seed", str(seed),
                              "--db", db, "--quiet"], stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE) for seed in range(8)]
    ends = [(run.communicate(timeout=120), run.returncode) for run in runs]
    tap.ok("exit codes", all(code == 0 for _, code in ends),
           [(code, err.decode(errors="replace")) for (_, err), code in ends])
    tap.ok("nobody sees a lock", all(b"lock" not in err for (_, err), _ in ends), ends)
    tap.equal("complete runs", lab.runs(db), ["complete"] * 8)
    tap.equal("job rows", lab.query(db, "SELECT count(*) FROM job"), [(1600,)])
    tap.equal("rows of each run", lab.query(db, "SELECT DISTINCT n FROM (SELECT count(*) AS n "
              "FROM job GROUP BY run)"), [(200,)])
    tap.ok("integrity_check", lab.intact(db))


def case_21_opening(lab, tap):
    """21b eight processes make one database at the same moment"""
    trace = lab.file("trace.csv", stream_of(2))
    said = []
    for _ in range(15):
        db = lab.new_database()
        runs = [subprocess.Popen([lab.program, "run", "--trace", trace, "--cluster", "1x8", "--policy",
                                  "fifo", "--db", db, "--quiet"], stdout=subprocess.DEVNULL,
                                 stderr=subprocess.PIPE) for _ in range(8)]
        said += [run.communicate(timeout=120)[1].decode() for run in runs]
        tap.equal(f"{os.path.basename(db)}: complete runs", lab.runs(db), ["complete"] * 8)
    tap.equal("nothing is said", [text for text in said if text], [])


def refused(lab, tap, what, db, done, words):
    """A run that could not be stored: its exit code, its message, and what the database holds."""
    tap.equal(f"{what}: exit code", done.code, 4)
    tap.ok(f"{what}: the message names file and reason", os.path.basename(db) in done.err and
           any(word in done.err.lower() for word in words), done.err)
    tap.ok(f"{what}: integrity_check", lab.intact(db))
    tap.equal(f"{what}: only the earlier run", lab.runs(db), ["complete"])
    tap.equal(f"{what}: which is readable", len(lab.jobs(db, "first")), 200)


def case_23(lab, tap):
    """23 the disk fills up"""
    trace = lab.file("trace.csv", stream_of(200))
    big = lab.file("big.csv", stream_of(5000, name="job-{:06d}"))
    cluster = lab.file("pai_machine_spec.csv", V100.format(8))
    db = lab.path("r.db")
    lab.replay(trace, cluster, "--label", "first", db=db)
    size = os.path.getsize(db)

    def limited():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size + 16384, size + 16384))

    options = ["run", "--trace", big, "--cluster", cluster, "--policy", "fifo", "--db"]
    refused(lab, tap, "file-size limit", db, lab.run(*options, db, preexec_fn=limited),
            ("too large", "no space", "full"))
    mounted = lab.path("small")
    os.mkdir(mounted)
    mount = shutil.which("mount") and subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size // 1024 + 200}k", "tmpfs", mounted],
        capture_output=True, check=False)
    if mount and mount.returncode == 0:
        try:
            small = shutil.copy(db, mounted)
            refused(lab, tap, "full file system", small, lab.run(*options, small),
                    ("no space", "full"))
        finally:
            subprocess.run(["umount", mounted], check=True)
    else:
        tap.skip("full file system", "no right to mount a tmpfs")
    for what, args in (("job table", ["--jobs"]), ("chrome trace", ["--chrome-trace"]),
                       ("metrics", ["--metrics"])):
        done = lab.run("export", "--db", db, "--run", "first", *args, "/dev/full")
        tap.ok(f"{what} to /dev/full: exit code and reason",
               done.code == 4 and "No space" in done.err and "/dev/full" in done.err, done.shown())
    with open("/dev/full", "wb") as full:
        for what, args in (("run --json", ["run", "--trace", trace, "--cluster", "1x8", "--json"]),
                           ("export", ["export", "--db", db, "--run", "first", "--jobs", "-"]),
                           ("ls", ["ls", "--db", db]),
                           ("trace convert", ["trace", "convert", "--trace", trace, "-o", "-"])):
            done = subprocess.run([lab.program, *args], stdout=full, stderr=subprocess.PIPE,
                                  check=False, timeout=60)
            tap.ok(f"{what} with a full stdout: exit code", done.returncode == 4, done)


def german(lab):
    """A de_DE.UTF-8 locale built into the case's folder, as environment; None without one."""
    folder = lab.path("locale")
    os.mkdir(folder)
    try:
        subprocess.run(["localedef", "-i", "de_DE", "-f", "UTF-8", f"{folder}/de_DE.UTF-8"],
                       capture_output=True, check=False)
        env = {"LOCPATH": folder, "LC_ALL": "de_DE.UTF-8"}
        said = subprocess.run(["printf", "%.1f", "1,5"], env={**os.environ, **env},
                              capture_output=True, check=False)
        return env if said.stdout == b"1,5" else None
    except FileNotFoundError:
        return None


def case_32(lab, tap):
    """32 a locale with a decimal comma"""
    env = german(lab)
    if env is None:
        tap.skip("de_DE.UTF-8", "localedef and its sources are missing")
        return
    trace = pai_row("a", "1.5e3", "1500.25") + pai_row("b", "1.5001E+3", "1500.6")
    config = lab.file("conf.json", '{"preempt.restart_s": 0.25, "rate_scale": 1.0}')
    exports = []
    for name, where in (("C", {"LC_ALL": "C"}), ("de_DE", env)):
        db = lab.path(f"{name}.db")
        run = lab.replay(trace, V100.format(1), "--config", config, "--label", "x", db=db, env=where)
        tap.near(f"{name}: jct", run.column("jct_s"), {"a": 0.25, "b": 0.65})
        for key in ("timing", "db"):
            run.summary.pop(key)
        text = lab.run("show", "--db", db, "x", env=where).out
        chrome = lab.run("export", "--db", db, "--run", "x", "--chrome-trace", "-", env=where).out
        native = lab.run("trace", "convert", "--trace", lab.path("trace.csv"), "-o", "-",
                         env=where).out
        exports.append([json.dumps(run.summary, sort_keys=True), lab.export(db, "x", where), chrome,
                        native])
        tap.ok(f"{name}: no decimal comma", b"0,25" not in run.out + text + chrome + native, text)
    for what, ours, theirs in zip(("summary", "job table", "chrome trace", "native trace"), *exports):
        tap.ok(f"the same {what} in both", ours == theirs and ours, (ours, theirs))


def case_38(lab, tap):
    """38 the reader goes away"""
    trace = lab.file("trace.csv", stream_of(20000, name="job{:06d}"))
    db = lab.path("r.db")
    lab.replay(trace, V100.format(8), "--label", "x", db=db)
    before = hashlib.sha256(open(db, "rb").read()).hexdigest()
    export = subprocess.Popen([lab.program, "export", "--db", db, "--run", "x", "--jobs", "-"],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    head = subprocess.run(["head", "-n", "1"], stdin=export.stdout, capture_output=True, check=True)
    export.stdout.close()
    err = export.stderr.read()
    code = export.wait(timeout=60)
    tap.ok("head prints the header line", head.stdout.startswith(b"job,") and
           head.stdout.count(b"\n") == 1, head.stdout)
    tap.ok("at most one line on stderr", err.count(b"\n") <= 1, err)
    tap.ok("a quiet end, no crash", code in (0, -signal.SIGPIPE), code)
    tap.equal("the database is as it was", hashlib.sha256(open(db, "rb").read()).hexdigest(), before)
