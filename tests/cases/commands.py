"""commands.py - what is done with stored runs: ls, show, export, check."""
import csv
import json
import xml.etree.ElementTree as xml

from lab import V100, native

TRACE = native(("a", 0, 10, 1), ("b", 0, 20, 2), ("c", 5, 10, 1))
# On two GPUs in order: a 0-10, b 10-30 (it needs both), c 30-40; JCT 10, 30, 35; mean 25.


def two_runs(lab):
    db = lab.new_database()
    first = lab.replay(TRACE, V100.format(2), "--label", "first", db=db)
    lab.replay(TRACE, V100.format(2), "--seed", "9", policy="sjf", db=db)
    return db, first


def case_ls(lab, tap):
    """ls lists runs, oldest first"""
    db, _ = two_runs(lab)
    lines = lab.run("ls", "--db", db).out.decode().splitlines()
    tap.equal("a header and a line a run", len(lines), 3)
    tap.equal("name, policy, seed, status, jobs, mean JCT", lines[1].split()[:6],
              ["first", "fifo", "1", "complete", "3", "25"])
    tap.equal("unnamed runs get policy and seed", lines[2].split()[:3], ["sjf-9", "sjf", "9"])
    objects = [json.loads(line) for line in lab.run("ls", "--db", db, "--json").out.splitlines()]
    tap.equal("--json: one object a run", [o["run"] for o in objects], ["first", "sjf-9"])
    tap.near("with its metrics", objects[0]["metrics"]["jct_mean_s"], 25)
    missing = lab.run("ls", "--db", lab.path("none.db"))
    tap.ok("a missing database is named", missing.code == 3 and "none.db" in missing.err,
           missing.shown())


def case_show(lab, tap):
    """show tells a run by name or the newest"""
    db, first = two_runs(lab)
    text = lab.run("show", "first", "--db", db).out.decode()
    tap.ok("longest wait and whose", "longest wait: 25 s (c)" in text, text)
    changed, same = text.index("that differ"), text.index("at their defaults")
    tap.ok("what was set comes first", changed < text.index("  policy ") < same
           < text.index("  strict "), text)
    shown = json.loads(lab.run("show", "last", "--db", db, "--json").out)
    tap.equal("last is the newest", (shown["run"], shown["settings"]["seed"]), ("sjf-9", "9"))
    again = json.loads(lab.run("show", "first", "--db", db, "--json").out)
    tap.equal("its metrics are those the run printed", again["metrics"], first.metrics)
    wrong = lab.run("show", "frist", "--db", db)
    tap.ok("an unknown run: exit 2, and those there are", wrong.code == 2 and "first" in wrong.err,
           wrong.shown())
    tap.equal("no run named: exit 2", lab.run("show", "--db", db).code, 2)


def case_export(lab, tap):
    """export writes several files in the format asked for"""
    db, _ = two_runs(lab)
    done = lab.run("export", "--db", db, "--run", "first", "--jobs", "jobs.json", "--spans",
                   "spans.csv", "--samples", "samples.csv", "--events", "events.csv",
                   "--chrome-trace", "gantt.json")
    tap.equal("exit code", done.code, 0)
    jobs = json.loads((lab.folder / "jobs.json").read_text())
    tap.near("jobs.json is JSON by its name", [job["jct_s"] for job in jobs], [10, 30, 35])
    with open(lab.path("spans.csv"), newline="", encoding="utf-8") as file:
        spans = sorted((row["job"], float(row["start_s"]), float(row["end_s"]), int(row["gpus"]))
                       for row in csv.DictReader(file))
    tap.equal("spans: who held how many cards, when", spans,
              [("a", 0, 10, 1), ("b", 10, 30, 2), ("c", 30, 40, 1)])
    events = json.loads((lab.folder / "gantt.json").read_text())["traceEvents"]
    bars = sorted((e["name"], e["ts"], e["dur"]) for e in events if e["ph"] == "X")
    tap.equal("Chrome trace: a bar a card", bars,
              [("a", 0, 10_000_000), ("b", 10_000_000, 20_000_000), ("b", 10_000_000, 20_000_000),
               ("c", 30_000_000, 10_000_000)])
    forced = lab.run("export", "--db", db, "--metrics", "-", "--format", "json")
    metrics = {row["metric"]: row["value"] for row in json.loads(forced.out)}
    # sjf: a and then c go first (equal durations, a before c), b last: a 0-10, c 5-15, b 15-35
    tap.near("the newest run without --run", metrics["jct_mean_s"], (10 + 10 + 35) / 3)
    tap.equal("nothing asked for: exit 2", lab.run("export", "--db", db).code, 2)
    tap.equal("an unknown format: exit 2",
              lab.run("export", "--db", db, "--jobs", "-", "--format", "xml").code, 2)


def case_check(lab, tap):
    """check compares with tolerances of all kinds"""
    db, _ = two_runs(lab)

    def check(*args):
        return lab.run("check", "--db", db, *args)

    tap.equal("--save", check("--run", "first", "--save", "base.json").code, 0)
    saved = json.loads((lab.folder / "base.json").read_text())
    tap.equal("value and tolerance", saved["metrics"]["jct_mean_s"],
              {"value": 25, "tolerance": "5%"})
    tap.equal("against itself", check("--run", "first", "--baseline", "base.json", "--tol", "0",
                                      ).code, 0)
    # sjf's mean JCT is 55/3 s, 26.7 % better: only two-sided tolerances mind
    better = ("--run", "sjf-9", "--baseline", "base.json", "--tol", "1000%")
    tap.equal("better is fine", check(*better, "--tol", "jct_mean_s=1%").code, 0)
    tap.equal("either way: exit 1", check(*better, "--tol", "jct_mean_s=±5%").code, 1)
    tap.equal("+- is the same", check(*better, "--tol", "jct_mean_s=+-5%").code, 1)
    tap.equal("within either way", check(*better, "--tol", "jct_mean_s=±30%").code, 0)
    tap.equal("in its unit: 7 s", check(*better, "--tol", "jct_mean_s=±7").code, 0)
    tap.equal("in its unit: 6 s", check(*better, "--tol", "jct_mean_s=±6").code, 1)
    failed = check(*better, "--tol", "jct_mean_s=±5%", "--junit", "out.xml")
    suite = xml.parse(lab.path("out.xml")).getroot().find("testsuite")
    tap.equal("JUnit counts it", [case.get("name") for case in suite.findall("testcase")
                                  if case.find("failure") is not None], ["jct_mean_s"])
    tap.ok("and the text names the run", "sjf-9" in failed.err, failed.shown())
    for name, args in (("an unknown metric", ("--tol", "jct_mean=3%")),
                       ("no tolerance", ("--tol", "jct_mean_s=much")),
                       ("--save too", ("--save", "x.json"))):
        wrong = check("--run", "first", "--baseline", "base.json", *args)
        tap.equal(f"{name}: exit 2", wrong.code, 2)
    lab.file("cut.json", '{"colosim_baseline": 1,')
    tap.equal("a broken baseline: exit 3", check("--run", "first", "--baseline", "cut.json").code,
              3)


def case_compare(lab, tap):
    """compare's help and table"""
    said = lab.run("compare", "--help").out.decode()
    tap.equal("each option is listed once", [o for o in ("--policy=", "--seeds=", "--seed=",
                                                         "--db=") if said.count(o) != 1], [])
    tap.ok("run has --policy too", "--policy=NAME" in lab.run("run", "--help").out.decode())
    table = lab.run("compare", "--policy", "fifo,sjf", "--quiet")
    tap.equal("exit code", table.code, 0)
    tap.equal("no line ends in blanks", [line for line in table.out.decode().splitlines()
                                         if line != line.rstrip()], [])


def case_embedded(lab, tap):
    """the embedded trace is no file: it has no hash"""
    db = lab.new_database()
    run = lab.run("run", "--policy", "fifo", "--quiet", "--json", "--db", db)
    tap.equal("null in JSON", json.loads(run.out)["trace_hash"], None)
    shown = lab.run("show", "last", "--db", db)
    tap.ok("not shown", shown.code == 0 and "trace hash" not in shown.said, shown.shown())
