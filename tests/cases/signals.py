"""signals.py - case 30: a run that is stopped keeps what it has and says so."""
import re
import signal
import subprocess
import time

from lab import Outcome, pai_row


def stopped(lab, db, trace, delay_s, signals):
    """Starts a run and sends the signals, the first after delay_s; how it ended, and how long
    after the first signal. None when it was over before."""
    run = subprocess.Popen([lab.program, "run", "--trace", trace, "--cluster", "1x8", "--policy",
                            "fifo", "--db", db], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    time.sleep(delay_s)
    if run.poll() is not None:
        run.communicate()
        return None
    first = time.monotonic()
    for number in signals:
        run.send_signal(number)
        time.sleep(0.01)
    out, err = run.communicate(timeout=60)
    end = time.monotonic()
    if run.returncode == 0:
        return None
    return Outcome(run.returncode, out, err.decode(errors="replace"), end - first)


def case_30(lab, tap):
    """30 stopped with Ctrl-C"""
    n = 200000
    trace = lab.file("t.csv", "".join(pai_row(f"j{i:07d}", i, i + 1 + i % 50) for i in range(n)))
    whole = lab.run("run", "--trace", trace, "--cluster", "1x8", "--policy", "fifo", "--db",
                    lab.path("whole.db"))
    tap.equal("left alone it ends well", whole.code, 0)
    for name, signals, code in (("SIGINT", [signal.SIGINT], 130),
                                ("SIGTERM", [signal.SIGTERM], 143),
                                ("SIGINT twice", [signal.SIGINT] * 2, -signal.SIGINT)):
        for share in (0.6, 0.5, 0.4, 0.3, 0.2, 0.1):
            db = lab.new_database()
            done = stopped(lab, db, trace, whole.seconds * share, signals)
            if done:
                break
        if not done:
            tap.ok(f"{name}: reached a run in time", False)
            continue
        tap.equal(f"{name}: exit code", done.code, code)
        tap.ok(f"{name}: integrity_check", lab.intact(db))
        if len(signals) == 2:
            tap.ok(f"{name}: ends at once", done.seconds < 0.5, done.seconds)
            tap.equal(f"{name}: nothing is stored", lab.runs(db), [])
            continue
        tap.ok(f"{name}: ends within two seconds", done.seconds < 2, done.seconds)
        tap.equal(f"{name}: the run is marked", lab.runs(db), ["interrupted"])
        tap.ok(f"{name}: it says so, with the time reached", "interrupted" in done.err and
               re.search(r"t = \d+", done.err), done.err)
        tap.ok(f"{name}: ls lists it as interrupted",
               "interrupted" in lab.run("ls", "--db", db).said)
        tap.equal(f"{name}: it is no baseline unless asked for",
                  [lab.run("check", "--db", db, "--save", lab.path("b.json"), *more).code
                   for more in ([], ["--interrupted"])], [1, 0])


def case_while_reading(lab, tap):
    """stopped while the trace is still being read"""
    db = lab.new_database()
    run = subprocess.Popen([lab.program, "run", "--trace", "-", "--format", "native", "--cluster",
                            "1x8", "--policy", "fifo", "--db", db], stdin=subprocess.PIPE,
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    run.stdin.write(b"job,submit_s,duration_s,gpu\n")
    run.stdin.write(b"".join(b"j%d,%d,1,1\n" % (i, i) for i in range(200000)))  # more than is buffered
    run.stdin.flush()
    run.send_signal(signal.SIGINT)
    try:
        run.stdin.write(b"".join(b"k%d,0,1,1\n" % i for i in range(200000)))
        run.stdin.close()
    except BrokenPipeError:
        pass
    run.stdin = None
    out, err = run.communicate(timeout=60)
    err = err.decode(errors="replace")
    tap.equal("exit code", run.returncode, 130)
    tap.ok("it says that it was reading", "interrupted while" in err and "read" in err, err)
    tap.equal("nothing on stdout", out, b"")
    tap.equal("nothing is stored", lab.runs(db), [])
