"""reading.py - cases about what a file says, and what is said about the file."""
import gzip
import io
import json
import tarfile

from lab import V100, native, pai_row, stream_of


def account(lab, *options, trace="trace.csv"):
    """The import report of `colosim trace info --json`."""
    done = lab.run("trace", "info", "--trace", lab.path(trace), "--json", *options)
    return json.loads(done.out)


def case_10(lab, tap):
    """10 names that are not UTF-8"""
    row = pai_row("nN", 0, 10).encode()
    trace = lab.file("bytes.csv", row.replace(b"N", b"\xfe") + row.replace(b"N", b"\xff"))
    run = lab.replay(trace, V100.format(8))
    tap.near("two jobs", run.metrics["jobs_completed"], 2)
    tap.equal("two names in the CSV export", set(run.jobs), {"n\xfe", "n\xff"})
    tap.equal("and in the database", {name for name, in lab.query(lab.path("r1.db"),
              "SELECT name FROM job")}, {b"n\xfe", b"n\xff"})
    done = lab.run("export", "--db", lab.path("r1.db"), "--jobs", "-", "--format", "json")
    names = {job["job"] for job in json.loads(done.out.decode("utf-8"))}
    tap.equal("the JSON export is UTF-8 with two names", len(names), 2)


def case_11(lab, tap):
    """11 a download that stopped"""
    whole = gzip.compress(stream_of(200).encode())
    full = lab.replay(lab.file("full.csv.gz", whole), V100.format(8))
    tap.near("full: jobs", full.metrics["jobs_completed"], 200)
    for size in (8, 12, len(whole) // 2, len(whole) - 8, len(whole) - 1):
        lab.file("cut.csv.gz", whole[:size])
        db = lab.new_database()
        cut = lab.replay(lab.path("cut.csv.gz"), V100.format(8), db=db)
        tap.equal(f"cut at {size}: exit code", cut.code, 3)
        tap.ok(f"cut at {size}: the message names the file and says it is incomplete",
               "cut.csv.gz" in cut.err and any(word in cut.err for word in ("incomplete", "ends")),
               cut.err)
        tap.ok(f"cut at {size}: no complete run", "complete" not in lab.runs(db), lab.runs(db))


def case_15(lab, tap):
    """15 a name of seventy thousand bytes"""
    trace = pai_row("a", 0, 10) + pai_row("x" * 70000, 0, 10) + pai_row("c", 0, 10)
    run = lab.replay(trace, V100.format(8))
    tap.near("jct of the rows around it", [run.jobs["a"]["jct_s"], run.jobs["c"]["jct_s"]], [10, 10])
    report = account(lab)
    tap.equal("rows read", report["rows"], 3)
    tap.ok("kept whole, or refused at line 2", len(run.jobs) == 3 or
           (len(run.jobs) == 2 and "line 2" in run.err), run.shown()[:2000])


SIX_ROWS = "".join(pai_row(*row) for row in (("a", "0.0", "100.0"), ("b", "10.0", "30.0")))
SIX_HEAD = ("job_name,task_name,inst_num,status,start_time,end_time,plan_cpu,plan_mem,plan_gpu,"
            "gpu_type\n")


def case_16(lab, tap):
    """16 the same table in six encodings"""
    quoted = "".join(",".join(f'"{field}"' for field in line.split(",")) + "\n"
                     for line in SIX_ROWS.splitlines())
    ways = {"plain": SIX_ROWS, "crlf": SIX_ROWS.replace("\n", "\r\n"), "bom": "\ufeff" + SIX_ROWS,
            "bom and header": "\ufeff" + SIX_HEAD + SIX_ROWS, "quoted": quoted,
            "no last line break": SIX_ROWS.rstrip("\n")}
    stored = {}
    for way, text in ways.items():
        trace = lab.file(way.replace(" ", "-") + ".csv", text)
        db = lab.new_database()
        run = lab.replay(trace, V100.format(1), "--set", "gpu_type_match=strict", db=db)
        tap.near(f"{way}: jct", run.column("jct_s"), {"a": 100, "b": 110})
        stored[way] = (lab.export(db, run.summary["run"]), lab.query(db, "SELECT * FROM job"))
        tap.ok(f"{way}: the type has no carriage return", "V100\r" not in run.said, run.said)
    tap.ok("the stored rows are the same", all(rows == stored["plain"] for rows in stored.values()),
           stored)


def case_18(lab, tap):
    """18 running, waiting and half-filled rows"""
    rows = [("r1", "0.0", "100.0", "Terminated"), ("r2", "10.0", "", "Running"),
            ("r3", "20.0", "50.0", "Failed"), ("r4", "", "", "Waiting"),
            ("r5", "", "80.0", "Terminated"), ("r6", "30.0", "", "Terminated")]
    run = lab.replay("".join(pai_row(job, a, b, status=status) for job, a, b, status in rows),
                     V100.format(1))
    tap.near("jct", run.column("jct_s"), {"r1": 100, "r3": 110})
    report = account(lab)
    tap.equal("rows, kept, dropped", [report[key] for key in ("rows", "kept", "dropped")], [6, 2, 4])
    tap.equal("the reasons add up", sum(report["reasons"].values()), 4)
    done = lab.replay(lab.path("trace.csv"), V100.format(1), "--set", "trace.successful_only=true")
    tap.equal("successful only", set(done.jobs), {"r1"})


def case_20(lab, tap):
    """20 an end before the start is no run time"""
    rows = [("a", 0, 100), ("b", 50, 0), ("c", 30, 20), ("d", 40, 40)]
    run = lab.replay("".join(pai_row(*row) for row in rows), V100.format(1))
    tap.near("jct", run.column("jct_s"), {"a": 100, "d": 60})
    report = account(lab)
    tap.equal("rows, kept, dropped", [report[key] for key in ("rows", "kept", "dropped")], [4, 2, 2])
    tap.equal("one reason", list(report["reasons"].values()), [2])
    tap.ok("lines 2 and 3 are named", "2" in run.err and "3" in run.err and "before" in run.err,
           run.err)
    numbers = [value for row in run.jobs.values() for value in row.values()
               if isinstance(value, float)]
    tap.ok("no negative number in the job table", min(numbers) >= 0, run.jobs)


def case_26(lab, tap):
    """26 the same row twice"""
    a, b = pai_row("a", 0, 100), pai_row("b", 0, 50)
    run = lab.replay(a + a + b, V100.format(1))
    tap.near("jct", run.column("jct_s"), {"a": 100, "b": 150})
    tap.equal("duplicates", account(lab)["duplicates"], 1)
    run = lab.replay(a + pai_row("a", 5, 25) + b, V100.format(1))
    tap.ok("a contradiction is reported with both lines",
           "line 1" in run.err.replace(":1", " line 1") and
           "line 2" in run.err.replace(":2", " line 2"), run.err)
    tap.near("and the first row is kept", run.column("jct_s"), {"a": 100, "b": 150})


def case_27(lab, tap):
    """27 text that strtod takes for a number"""
    rows = [("ok1", 0, 100), ("n1", "nan", 100), ("n2", 0, "inf"), ("n3", 0, "1e400"),
            ("n4", "0x10", 100), ("n5", 5, "12abc"), ("ok2", 10, 30)]
    run = lab.replay("".join(pai_row(*row) for row in rows), V100.format(1))
    tap.near("jct", run.column("jct_s"), {"ok1": 100, "ok2": 110})
    tap.near("mean jct", run.metrics["jct_mean_s"], 105)
    report = account(lab)
    tap.equal("rows, kept, dropped", [report[key] for key in ("rows", "kept", "dropped")], [7, 2, 5])
    for line, (_, start, end) in enumerate(rows[1:6], 2):
        bad = start if isinstance(start, str) else end
        tap.ok(f"line {line} is refused with its text",
               any(bad in text and str(line) in text for text in run.err.splitlines()), run.err)
    strict = lab.replay(lab.path("trace.csv"), V100.format(1), "--strict")
    tap.equal("strict: exit code", strict.code, 3)


def case_34(lab, tap):
    """34 two gzip members in one file"""
    parts = "".join(pai_row(name, 0, 10) for name in "abc"), "".join(
        pai_row(name, 0, 10) for name in "de")
    trace = lab.file("two.csv.gz", b"".join(gzip.compress(part.encode()) for part in parts))
    run = lab.replay(trace, V100.format(8))
    tap.near("every member is read", run.column("jct_s"), dict.fromkeys("abcde", 10))


def case_48(lab, tap):
    """48 two files in a folder, created in either order"""
    parts = {"part-a.csv": pai_row("a", 0, 10), "part-b.csv": pai_row("b", 0, 20)}
    for folder, names in (("one", sorted(parts)), ("two", sorted(parts, reverse=True))):
        for name in names:
            lab.file(f"{folder}/{name}", parts[name])
        run = lab.replay(lab.path(folder), V100.format(1))
        tap.near(f"{folder}: jct", run.column("jct_s"), {"a": 10, "b": 30})


def case_49(lab, tap):
    """49 a tar file made on another system"""
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w:gz") as tar:
        for name, text in (("._pai_task_table.csv", "resource fork"),
                           ("pai_task_table.csv", pai_row("a", 0, 10) + pai_row("b", 0, 10)),
                           ("../outside.csv", "bad\n")):
            info = tarfile.TarInfo(name)
            info.size = len(text)
            tar.addfile(info, io.BytesIO(text.encode()))
    trace = lab.file("inner/trace.tar.gz", raw.getvalue())
    run = lab.replay(trace, V100.format(8))
    tap.ok("two rows, or a refusal that says to unpack it",
           len(run.jobs) == 2 or (run.code == 3 and "unpack" in run.err), run.shown())
    tap.ok("nothing is written outside", not list(lab.folder.rglob("outside.csv")))


def case_52(lab, tap):
    """52 the hour of day of a PAI time"""
    rows = {"a": (494319, "Wednesday", 1), "b": (0, "Thursday", 8), "c": (57599, "Thursday", 23)}
    said = set()
    for zone in ("UTC", "America/New_York"):
        for job, (start, day, hour) in rows.items():
            trace = lab.file(f"pai_task_table_{job}.csv", pai_row(job, start, start + 10))
            done = lab.run("trace", "info", "--trace", trace, "--format", "pai", "--json",
                           env={"TZ": zone})
            clock = json.loads(done.out)["clock"]
            tap.equal(f"{job}, TZ={zone}", [clock["first_day"], clock["first_hour"], clock["zone"]],
                      [day, hour, "UTC+8"])
            said.add(done.out)
    tap.equal("the same output in both zones", len(said), len(rows))
