"""measuring.py - calib pairs and calib bench on jobs and cards that are made up (tests/rate_job.c,
tests/stubs): what is expected is what those were told to do."""
import contextlib
import csv
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import time

STUBS = pathlib.Path(__file__).parents[1] / "stubs"
UUID = "GPU-00010203-0405-0607-0809-0a0b0c0d0e0f"
QUICK = ["--set", "measure.window_s=0.5", "--set", "measure.warmup_s=0.1", "--set",
         "measure.grace_s=0.3", "--set", "measure.repeats=1", "--set", "measure.fraction=1",
         "--quiet"]
KNOWN = {"sm": 50, "occ": 30, "tensor": 10, "dram": 20, "peak_alloc_mib": 1000}


def helper(lab, name):
    return str(pathlib.Path(lab.program).parent / "tests" / name)


def job(lab, name, alone, *options, **keys):
    command = " ".join([helper(lab, "rate_job"), "running", str(alone), *options])
    return {"name": name, "command": command, **keys}


def jobs_file(lab, *jobs, name="jobs.json"):
    (lab.folder / "running").mkdir(exist_ok=True)
    return lab.file(name, json.dumps(jobs))


def card(lab, **more):
    """The environment of a machine with the stub's card and MPS; its folder for temporary files."""
    (lab.folder / "tmp").mkdir(exist_ok=True)
    return {"LD_LIBRARY_PATH": helper(lab, "stubs"), "PATH": f"{STUBS}:{os.environ['PATH']}",
            "TMPDIR": lab.path("tmp"), "STUB_MPS_LOG": lab.path("mps.log"), "STUB_DCGM": "-33",
            **more}


def rows(lab, name):
    with open(lab.path(name), encoding="utf-8") as file:
        return list(csv.DictReader(file))


def mps_log(lab):
    path = lab.folder / "mps.log"
    return path.read_text().splitlines() if path.exists() else []


def lines_in(path):
    return path.read_text().count("\n") if path.exists() else 0


def wait_until(true, within_s=30):
    end = time.monotonic() + within_s
    while not true():
        assert time.monotonic() < end, "it did not come about"
        time.sleep(.01)


def processes():
    """{pid: command line} of everything that runs."""
    found = {}
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                found[int(entry.name)] = (entry / "cmdline").read_bytes().replace(
                    b"\0", b" ").decode(errors="replace")
    return found


def left_over(lab):
    """Processes of this lab that still run, and folders of MPS daemons."""
    mark = str(lab.folder)
    mine = []
    for pid, line in processes().items():
        with contextlib.suppress(OSError):
            folder = os.readlink(f"/proc/{pid}/cwd")
            if pid != os.getpid() and (folder == mark or mark in line) and line:
                mine.append(line)
    tmp = lab.folder / "tmp"
    return mine + [path.name for path in (tmp.iterdir() if tmp.exists() else ())]


def gone(lab, within_s=20):
    """Waits until nothing is left; what is, if anything."""
    end = time.monotonic() + within_s
    while left_over(lab) and time.monotonic() < end:
        time.sleep(0.05)
    return left_over(lab)


def case_together(lab, tap):
    """Rates alone and together become the tables that calib score reads"""
    shares = {"a-b64": .8, "b-decode-b4": .25, "c-b32-amp": .5, "d-b8": .9}
    rates = {"a-b64": 100, "b-decode-b4": 200, "c-b32-amp": 10, "d-b8": 1000}
    how = {"a-b64": ["more"], "b-decode-b4": ["ready"], "c-b32-amp": ["tokens"], "d-b8": ["fork"]}
    keys = {"a-b64": {"samples_per_step": 3}, "b-decode-b4": {"samples_per_step": 4}, "c-b32-amp":
            {"rate": "throughput: ([0-9.]+) tokens"}}
    jobs = jobs_file(lab, *(job(lab, name, rates[name], f"share={shares[name]}", *how[name],
                                **KNOWN, **keys.get(name, {})) for name in shares))
    done = lab.run("calib", "pairs", jobs, "-o", "out", "--no-gpu", *QUICK)
    tap.equal("exit code", done.code, 0)
    tap.equal("it says what it did", done.out, b"4 of 4 jobs alone, 10 of 10 pairs; tables in out\n")
    solo = {row["job"]: row for row in rows(lab, "out/job_solo.csv")}
    tap.equal("steps a second alone", {name: float(solo[name]["steps_per_s"]) for name in shares},
              {name: float(rate) for name, rate in rates.items()})
    tap.equal("samples a second: the list's, or the job's own word",
              [float(solo[name]["samples_per_s"]) for name in ("a-b64", "b-decode-b4")],
              [6400.0, 800.0])
    tap.equal("what is known of each, and from whom",
              [(solo[name]["sm"], solo[name]["dram"], solo[name]["peak_alloc_mib"],
                solo[name]["counter_source"]) for name in ("a-b64", "d-b8")],
              [("75.5", "", "3000", "job"), ("50", "20", "1000", "given")])
    pairs = rows(lab, "out/job_pairs.csv")
    tap.equal("each pair once", len({frozenset((row["job_a"], row["job_b"])) for row in pairs}), 10)
    wrong = [row for row in pairs for side in "ab"
             if abs(float(row[f"retain_{side}"]) - shares[row[f"job_{side}"]]) > 1e-9]
    tap.ok("each keeps the share it was given", not wrong, wrong)
    tap.equal("nothing runs any more", gone(lab), [])
    text = pathlib.Path(lab.path("out/job_solo.csv")).read_text().replace(",75.5,,10,,", ",75.5,9,10,9,")
    lab.file("out/solo.csv", text)  # what job a did not say of itself
    score = lab.run("calib", "score", "--pairs", "out/job_pairs.csv", "--solo", "out/solo.csv",
                    "--model", "queueing", "--json", "--quiet")
    tap.equal("calib score reads them", (score.code, json.loads(score.out or "{}").get("rows")),
              (0, 20))


def case_none(lab, tap):
    """Without a card it says in one line what is missing, and exits 6"""
    jobs = jobs_file(lab, job(lab, "a", 1))
    kinds = {"no driver": {}, "no device": card(lab, STUB_CUDA_INIT="100"), "an old driver":
             card(lab, STUB_CUDA_VERSION="11020"), "no MPS": {**card(lab), "PATH": "/usr/bin:/bin"},
             "MPS that does not start": card(lab, STUB_MPS_FAIL="1")}
    said = {"no driver": "libcuda.so.1", "no device": "error 100", "an old driver": "error 35",
            "no MPS": "nvidia-cuda-mps-control is neither on PATH nor in", "MPS that does not start":
            "its log ends 'Failed to start: no memory'"}
    for kind, env in kinds.items():
        done = lab.run("calib", "pairs", jobs, "-o", "out", "--quiet", env=env)
        tap.equal(f"{kind}: exit code", done.code, 6)
        tap.equal(f"{kind}: lines", len(done.err.splitlines()), 1)
        tap.ok(f"{kind}: which", said[kind] in done.err, done.err)
        tap.ok(f"{kind}: nothing is written", not os.path.exists(lab.path("out")))
        tap.equal(f"{kind}: nothing is left", gone(lab), [])


def case_mps(lab, tap):
    """Jobs are clients of a daemon of our own, with their limits, ended in the right order"""
    jobs = jobs_file(lab, job(lab, "a-b64", 100, "mps", "env=a.env", mem_limit_mib=14336,
                              thread_pct=60),
                     job(lab, "b-decode", 200, "mps", "env=b.env", "share=.25"))
    done = lab.run("calib", "pairs", jobs, "-o", "out", *QUICK, env=card(lab))
    tap.equal("exit code", done.code, 0)
    env = dict(line.split("=", 1) for line in pathlib.Path(lab.path("a.env")).read_text().split())
    tap.equal("memory limit as MPS wants it", env["CUDA_MPS_PINNED_DEVICE_MEM_LIMIT"], "0=14336M")
    tap.equal("thread percentage", env["CUDA_MPS_ACTIVE_THREAD_PERCENTAGE"], "60")
    tap.equal("the card by its UUID", env["CUDA_VISIBLE_DEVICES"], UUID)
    tap.ok("pipes of our own", env["CUDA_MPS_PIPE_DIRECTORY"].startswith(lab.path("tmp") + "/"), env)
    other = dict(line.split("=", 1) for line in pathlib.Path(lab.path("b.env")).read_text().split())
    tap.ok("no limit where none was asked", "CUDA_MPS_PINNED_DEVICE_MEM_LIMIT" not in other, other)
    tap.equal("all SMs where none was asked", other["CUDA_MPS_ACTIVE_THREAD_PERCENTAGE"], "100")
    log = mps_log(lab)
    tap.ok("one daemon, for that card", [line.split()[0] for line in log].count("daemon") == 1 and
           log[0].endswith(UUID), log)
    ends = [line for line in log if line.startswith("terminate")]
    tap.equal("each client of each window", len(ends), 2 + 3 * 2 + 1)
    tap.ok("is terminated in the server while it lives", all(line.endswith("alive") for line in ends),
           ends)
    tap.equal("then the daemon quits", log[-1], "quit")
    tap.ok("nobody kills its server", "server killed" not in log, log)
    tap.equal("nothing is left", gone(lab), [])
    raw = rows(lab, "out/raw.csv")
    tap.ok("every row says that it ran under MPS", all(
        row["mps"] == "on" and row["mps_a"] == "1" and row["mps_b"] in ("", "1") for row in raw), raw)
    tap.equal("and which card, driver and counters", {(
        row["gpu_uuid"], row["driver"], row["cuda"], row["counter_source"], row["sm"])
        for row in raw}, {(UUID, "580.00", "13000", "gpm", "75.5")})
    tap.equal("and its limits", {(row["thread_pct_a"], row["mem_limit_mib_a"]) for row in raw
                                 if row["job_a"] == "a-b64"}, {("60", "14336")})
    tap.equal("training is started before inference, which looks at the free memory",
              [row["outcome"] for row in raw], ["ok"] * len(raw))


def case_mps_starts(lab, tap):
    """A daemon that is long in coming is waited for, and one that has quit is not"""
    jobs = jobs_file(lab, job(lab, "a", 100, "mps"))
    command = ["calib", "pairs", jobs, "-o", "out", *QUICK]
    done = lab.run(*command, env=card(lab, STUB_MPS_SLOW=".3"))
    tap.equal("slow to come: exit code and messages", (done.code, done.err), (0, ""))
    tap.equal("nothing is left", gone(lab), [])
    tap.ok("its log is kept", "Starting control daemon" in pathlib.Path(lab.path(
        "out/log/mps.log")).read_text())
    done = lab.run(*command, env=card(lab))
    tap.ok("a socket that stays behind holds nobody up", done.code == 0 and done.seconds < 4,
           done.shown())
    done = lab.run(*command[:-1], "--quiet", "--set", "measure.repeats=3", "-o", "deaf", env=card(
        lab, STUB_MPS_HANG="1"))
    tap.ok("one that does not end a client costs its time once, not at each window", (
        done.code, done.err) == (0, "") and done.seconds < 45, done.shown())
    tap.equal("nothing is left of it", gone(lab), [])
    long = lab.folder / "a-folder-whose-name-leaves-no-room-for-the-name-of-a-socket"
    long.mkdir()
    done = lab.run(*command, env=card(lab, TMPDIR=str(long)))
    tap.equal("a long TMPDIR is not used: exit code and messages", (done.code, done.err), (0, ""))


def case_mps_word(lab, tap):
    """What CUDA says of a job counts where the server knows no client by its number"""
    jobs = jobs_file(lab, job(lab, "yes", 100, "mps", "first='mps=1 Stub sms=132'"),
                     job(lab, "no", 100, "mps", "first=mps=0"), job(lab, "mute", 100, "mps"))
    done = lab.run("calib", "pairs", jobs, "-o", "out", *QUICK, "--set", "measure.fraction=0", "--set",
                   "measure.attempts=1", env=card(lab, STUB_MPS_BLIND="1"))
    tap.equal("exit code: two failed", done.code, 1)
    tap.equal("outcomes", {row["job_a"]: (row["outcome"], row["mps_a"]) for row in rows(
        lab, "out/raw.csv")}, {"yes": ("ok", "1"), "no": ("no-mps", "0"), "mute": ("no-mps", "0")})
    tap.ok("why", "it says mps=0" in done.err, done.err)


def case_sources(lab, tap):
    """Counters: DCGM, else GPM, else what the job says; the source stands in each row"""
    jobs = jobs_file(lab, job(lab, "a", 100, "mps", "more"))
    for want, sm, more in (("dcgm", "62.5", {"STUB_DCGM": "0"}), ("gpm", "75.5", {}),
                           ("job", "75.5", {"STUB_GPM": "0"})):
        lab.run("calib", "pairs", jobs, "-o", want, *QUICK, "--set", "measure.fraction=0", env=card(lab, **more))
        row = rows(lab, f"{want}/raw.csv")[0]
        tap.equal(f"{want}: source and SM activity", (row["counter_source"], row["sm"]), (want, sm))
    tap.equal("what NVML alone knows is kept under its own name", (row["gpu_util"], row["mhz_max"]),
              ("99", "1980"))


def case_wrong_jobs(lab, tap):
    """Jobs that fail are named with what they said; the others go on"""
    jobs = jobs_file(lab, job(lab, "good", 100, "mps"), job(lab, "outside", 50), job(
        lab, "short", 10, "mps", "after=.3", "say='out of memory'"), {
            "name": "silent", "command": "sleep 60"}, {"name": "typo", "command": "no_such_program"})
    done = lab.run("calib", "pairs", jobs, "-o", "out", "--set", "measure.ready_s=1", *QUICK,
                   env=card(lab))
    tap.equal("exit code: some failed for good", done.code, 1)
    for said in ("outside does not run under MPS", "short ended (exit 4)",
                 "mem_limit_mib is too small", "silent printed neither a rate nor 'ready'",
                 "typo ended (exit 127)"):
        tap.ok(f"it says: {said}", said in done.err, done.err)
    tap.equal("the good one was measured", [row["job"] for row in rows(lab, "out/job_solo.csv")],
              ["good"])
    tap.equal("and its pair", [row["retain_a"] for row in rows(lab, "out/job_pairs.csv")], ["0.5"])
    outcomes = {(row["job_a"], row["outcome"]) for row in rows(lab, "out/raw.csv")}
    tap.ok("raw.csv has the outcomes", {("outside", "no-mps"), ("short", "ended"), (
        "silent", "not-started")} <= outcomes, outcomes)
    tap.equal("nothing is left", gone(lab), [])


def case_retry(lab, tap):
    """An MPS server that is not ready (807) is asked again; a lost client (810) restarts it"""
    lab.file("busy", "")
    jobs = jobs_file(lab, job(lab, "a", 100, "mps", "busy=busy"))
    done = lab.run("calib", "pairs", jobs, "-o", "out", *QUICK, env=card(lab))
    tap.equal("exit code", done.code, 0)
    tap.equal("its first window counts", rows(lab, "out/raw.csv")[0]["outcome"], "ok")
    os.unlink(lab.path("mps.log"))
    lab.file("crash.sh", f"#!/bin/sh\n{helper(lab, 'rate_job')} running 50 mps alone || "
             "echo 'the MPS client has been terminated by the server'; exit 1\n")
    jobs = jobs_file(lab, job(lab, "a", 100, "mps"), {"name": "b", "command": "sh crash.sh"},
                     name="two.json")
    done = lab.run("calib", "pairs", jobs, "-o", "two", *QUICK, env=card(lab))
    tap.equal("exit code: b beside anything failed for good", done.code, 1)
    faults = [row for row in rows(lab, "two/raw.csv") if row["outcome"] == "fault"]
    tap.equal("both pairs with b, twice each", len(faults), 4)
    tap.ok("neither side of them counts", all("b" not in (row["job_a"], row["job_b"])
                                              for row in rows(lab, "two/job_pairs.csv")))
    daemons = [line for line in mps_log(lab) if line.startswith("daemon")]
    tap.ok("a new server after each", len(daemons) >= 4, daemons)
    tap.equal("nothing is left", gone(lab), [])


def case_throttled(lab, tap):
    """Throttled seconds are left out and counted; where nothing is left there is no rate at all"""
    hot = lab.path("hot")
    lab.file("hot", "0x40")
    jobs = jobs_file(lab, job(lab, "a", 100, "mps", "ready"))
    env = card(lab, STUB_THROTTLE=hot)
    done = lab.run("calib", "pairs", jobs, "-o", "out", *QUICK, env=env)
    tap.equal("exit code: nothing was measured", done.code, 5)
    tap.ok("it says so", "while the card was throttled" in done.err, done.err)
    tap.equal("no row, and no 0", rows(lab, "out/job_solo.csv"), [])
    with subprocess.Popen([lab.program, "calib", "pairs", jobs, "-o", "some", *QUICK, "--set",
                           "measure.window_s=4", "--set", "measure.fraction=0"], cwd=lab.folder,
                          stdout=subprocess.DEVNULL, env={**os.environ, **env}) as run:
        wait_until(lambda: lines_in(lab.folder / "some/log/a.log") > 30)
        os.unlink(hot)
        tap.equal("cooled down: exit code", run.wait(), 0)
    row = rows(lab, "some/raw.csv")[0]
    tap.ok("some rates are left out, some are not", float(row["left_out_a"]) > 0 and
           float(row["n_a"]) >= 3, row)
    tap.equal("the rate is that of the rest", row["rate_a"], "100")


def case_clocks(lab, tap):
    """A window in which the clock changes does not count"""
    mhz = lab.file("mhz", "1980")
    jobs = jobs_file(lab, job(lab, "a", 100, "mps", "ready"))
    with subprocess.Popen([lab.program, "calib", "pairs", jobs, "-o", "out", *QUICK, "--set",
                           "measure.window_s=3", "--set", "measure.fraction=0"], cwd=lab.folder,
                          stdout=subprocess.DEVNULL,
                          env={**os.environ, **card(lab, STUB_MHZ=mhz)}) as run:
        wait_until(lambda: lines_in(lab.folder / "out/log/a.log") > 30)  # over 1.5 s
        lab.file("mhz", "1900")  # 4 % less
        tap.equal("exit code", run.wait(), 0)
    tap.equal("the first is measured again", [row["outcome"] for row in rows(lab, "out/raw.csv")],
              ["clocks", "ok"])


def case_power_cap(lab, tap):
    """A load that the power cap slows down is measured so, clocks and all"""
    mhz, capped = lab.file("mhz", "1980"), lab.file("capped", "0x4")
    jobs = jobs_file(lab, job(lab, "a", 100, "mps", "ready"))
    with subprocess.Popen([lab.program, "calib", "pairs", jobs, "-o", "out", *QUICK, "--set",
                           "measure.window_s=3", "--set", "measure.fraction=0"], cwd=lab.folder,
                          stdout=subprocess.DEVNULL, env={
                              **os.environ, **card(lab, STUB_MHZ=mhz, STUB_THROTTLE=capped)}) as run:
        wait_until(lambda: lines_in(lab.folder / "out/log/a.log") > 30)
        lab.file("mhz", "1635")
        tap.equal("exit code", run.wait(), 0)
    tap.equal("its first window counts, with both clocks", [(
        row["outcome"], row["left_out_a"], row["mhz_min"], row["mhz_max"]) for row in rows(
            lab, "out/raw.csv")], [("ok", "0", "1635", "1980")])


def case_drift(lab, tap):
    """When a sentinel has moved, the pairs before it are measured again"""
    jobs = jobs_file(lab, job(lab, "a", 100, "drift=slow"), job(lab, "b", 50, "drift=slow"))
    options = ["-o", "out", "--no-gpu", *QUICK]
    with subprocess.Popen([lab.program, "calib", "pairs", jobs, *options], cwd=lab.folder,
                          stdout=subprocess.DEVNULL) as run:
        raw = lab.folder / "out/raw.csv"
        wait_until(lambda: raw.exists() and raw.read_text().count(",solo,") == 2)
        lab.file("slow", "")
        wait_until(lambda: "sentinel" in raw.read_text())
        os.unlink(lab.path("slow"))
        tap.equal("exit code", run.wait(), 0)
    kinds = [row["kind"] for row in rows(lab, "out/raw.csv")]
    tap.equal("each alone once", kinds.count("solo"), 2)
    tap.equal("all else", [kind for kind in kinds if kind != "solo"], (["pair"] * 3 + ["sentinel"]) * 2)
    tap.equal("only the second counts", {row["retain_a"] for row in rows(lab, "out/job_pairs.csv")},
              {"0.5"})
    tap.equal("one row a pair", len(rows(lab, "out/job_pairs.csv")), 3)


def case_stopped(lab, tap):
    """Ctrl-C, a limit, and a cut row: what there is stays, and the same command goes on"""
    jobs = jobs_file(lab, *(job(lab, name, 100, "mps") for name in "abc"))
    command = ["calib", "pairs", jobs, "-o", "out", *QUICK]
    with subprocess.Popen([lab.program, *command], cwd=lab.folder, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL,
                          env={**os.environ, **card(lab)}) as run:
        raw = lab.folder / "out/raw.csv"
        wait_until(lambda: lines_in(raw) >= 5)
        run.send_signal(signal.SIGINT)
        tap.equal("Ctrl-C: exit code", run.wait(timeout=20), 130)
    tap.equal("nothing is left", gone(lab), [])
    before = rows(lab, "out/raw.csv")
    n = len(before)
    tap.equal("a table of what there was", {row["job"] for row in rows(lab, "out/job_solo.csv")},
              {row["job_a"] for row in before if row["kind"] == "solo"})
    alone = [{row["job_a"] for row in before[:i] if row["kind"] == "solo"} for i in range(n)]
    tap.ok("each alone before its pairs", all({row["job_a"], row["job_b"]} <= alone[i] for i, row in
                                              enumerate(before) if row["kind"] == "pair"), before)
    with open(raw, "ab") as file:
        file.write(raw.read_bytes().splitlines()[-1][:77])
    done = lab.run(*command, "--limit", "2.5s", env=card(lab))
    tap.equal("--limit: exit code", done.code, 0)
    tap.ok("it took no longer than that", done.seconds < 6, done.seconds)
    between = rows(lab, "out/raw.csv")
    tap.ok("the cut row is gone, others have come", n < len(between) and all(
        row["outcome"] == "ok" for row in between), between)
    tap.equal("it goes on with a sentinel", between[n]["kind"], "sentinel")
    done = lab.run(*command, env=card(lab))
    tap.equal("to its end", (done.code, len(rows(lab, "out/job_pairs.csv"))), (0, 6))
    tap.equal("sessions are counted", sorted({row["session"] for row in rows(lab, "out/raw.csv")}),
              ["1", "2", "3"])
    raw_before = raw.read_bytes()
    done = lab.run(*command, "--seed", "2", env=card(lab))
    tap.ok("another plan is refused", done.code == 2 and "another list of jobs" in done.err, done.err)
    done = lab.run(*command, env=card(lab, STUB_CUDA_DEVICES="2"), program=lab.program)
    tap.equal("all there: nothing to do", (done.code, raw.read_bytes()), (0, raw_before))
    done = lab.run(*command, "--gpu", "1", env=card(lab, STUB_CUDA_DEVICES="2"))
    tap.ok("another card is refused", done.code == 2 and "was measured on" in done.err, done.err)


def worker_of(pid):
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                if (entry / "stat").read_text().rpartition(")")[2].split()[1] == str(pid):
                    return int(entry.name)
    return None


def case_killed(lab, tap):
    """Killed at any instant it leaves no daemon, no job, no half-written table, and goes on"""
    jobs = jobs_file(lab, *(job(lab, name, 100, "mps", "fork") for name in "ab"))
    command = [lab.program, "calib", "pairs", jobs, "-o", "out", *QUICK]
    rng = random.Random(1)
    for i in range(6):
        with subprocess.Popen(command, cwd=lab.folder, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL,
                              env={**os.environ, **card(lab)}) as run:
            time.sleep(rng.uniform(0.05, 2.5))
            if i % 2:  # the worker, whose keeper is left
                victim = worker_of(run.pid)
                if victim is not None:
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(victim, signal.SIGKILL)
            else:
                run.kill()
            run.wait()
        left = gone(lab)
        if left:
            tap.ok(f"kill {i}: nothing is left", False, left)
        for name in ("job_solo.csv", "job_pairs.csv"):
            path = lab.folder / "out" / name
            if path.exists() and not path.read_bytes().endswith(b"\n"):
                tap.ok(f"kill {i}: {name} is whole", False, path.read_bytes())
    tap.equal("nothing is left after any", left_over(lab), [])
    done = lab.run(*command[1:], env=card(lab))
    tap.equal("it goes on to its end", (done.code, done.err), (0, ""))
    tap.equal("every pair", [row["retain_b"] for row in rows(lab, "out/job_pairs.csv")], ["0.5"] * 3)
    tap.equal("no file of an unfinished table", [path.name for path in (lab.folder / "out").iterdir()
                                                 if path.name.endswith(".part")], [])


def case_swept(lab, tap):
    """A daemon whose run was killed with its keeper is ended by the next"""
    jobs = jobs_file(lab, job(lab, "a", 100, "mps"))
    command = [lab.program, "calib", "pairs", jobs, "-o", "out", *QUICK]
    with subprocess.Popen(command, cwd=lab.folder, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL, env={**os.environ, **card(lab)}) as run:
        wait_until(lambda: mps_log(lab))
        victim = worker_of(run.pid)
        os.kill(run.pid, signal.SIGSTOP)
        os.kill(victim, signal.SIGKILL)
        run.kill()
    tap.ok("something was left", any("colosim-mps" in name for name in left_over(lab)))
    done = lab.run(*command[1:], env=card(lab))
    tap.equal("exit code", done.code, 0)
    tap.equal("nothing is left", gone(lab), [])
    tap.equal("both daemons were told to quit", [line for line in mps_log(lab) if line == "quit"],
              ["quit"] * 2)


def case_swept_zombie(lab, tap):
    """In a container whose first process reaps nobody, a killed run is as dead as anywhere"""
    env = card(lab)
    killed = os.fork()
    if killed == 0:
        os._exit(0)
    left = lab.folder / f"tmp/colosim-mps-{os.getuid()}-{killed}-abcdef"
    (left / "pipe").mkdir(parents=True)
    jobs = jobs_file(lab, job(lab, "a", 100, "mps"))
    done = lab.run("calib", "pairs", jobs, "-o", "out", *QUICK, env=env)
    tap.ok("its folder is removed", done.code == 0 and not left.exists(), done.shown())
    os.waitpid(killed, 0)


def case_profile(lab, tap):
    """--profile: launches, kernel lengths and gaps stand beside the counters"""
    jobs = jobs_file(lab, job(lab, "a", 100, "mps", "launch=50"), job(lab, "b", 100, "mps"))
    done = lab.run("calib", "pairs", jobs, "-o", "out", "--profile", *QUICK, env=card(lab))
    tap.equal("exit code", done.code, 0)
    solo = {row["job"]: row for row in rows(lab, "out/job_solo.csv")}
    tap.ok("fifty launches a line, some twenty lines a second",
           500 <= float(solo["a"]["launch_per_s"]) <= 1200, solo["a"])
    tap.equal("each kernel takes the stub's 250 us", solo["a"]["kernel_us"], "250")
    gap = float(solo["a"]["gap_us"])
    tap.ok("gaps are the inverse of the launch rate", abs(gap * float(solo["a"]["launch_per_s"]) / 1e6
                                                        - 1) < .25, gap)
    tap.equal("who never touches CUDA has none", (solo["b"]["launch_per_s"], solo["b"]["kernel_us"]),
              ("", ""))
    tap.equal("and no ring is left", sorted(path.name for path in (lab.folder / "out").iterdir()),
              ["job_pairs.csv", "job_solo.csv", "log", "raw.csv"])


def case_wrong(lab, tap):
    """What is wrong with the list or the options is named"""
    (lab.folder / "running").mkdir()
    for text, said in (
            ("{", "jobs.json: line 1, column 1"), ("[]", "want a list of jobs"),
            ('[{"name": "a"}]', "job 1: there is no 'command'"),
            ('[{"name": "a b", "command": "x"}]', "name 'a b': want"),
            ('[{"name": "a", "command": "x", "nmae": 1}]', "did you mean 'name'?"),
            ('[{"name": "a", "command": "x", "thread_pct": 0}]', "thread_pct: want a number"),
            ('[{"name": "a", "command": "x", "rate": "[0-9]+"}]', "want one group"),
            ('[{"name": "a", "command": "x", "rate": "(["}]', "rate '(['"),
            ('[{"name": "a", "command": "x", "kind": "both"}]', "want train or infer"),
            ('[{"name": "a", "command": "x"}, {"name": "a", "command": "y"}]', "is there twice")):
        done = lab.run("calib", "pairs", lab.file("jobs.json", text), "-o", "out", "--no-gpu")
        tap.ok(f"{text}: exit 2 and {said}", done.code == 2 and said in done.err, done.shown())
    jobs = jobs_file(lab, job(lab, "a", 1))
    for args, said in (([], "which jobs?"), ([jobs], "where to?"),
                       ([jobs, "-o", "out", "--limit", "soon"], "want a time"),
                       ([jobs, "-o", "out", "--set", "measure.windows=3"], "measure.window_s")):
        done = lab.run("calib", "pairs", *args)
        tap.ok(f"{said}: exit 2", done.code == 2 and said in done.err, done.shown())
    done = lab.run("calib", "pairs", jobs, "-o", "/proc/out", "--no-gpu")
    tap.equal("a folder that cannot be made", done.code, 4)


FAKE_PROBE = """#!/bin/sh
# Knows nothing of cards: stream keeps .25 of its rate beside anything, all others .5.
[ "$1" = --check ] && exit 0
exec {rate_job} running 1000 ready share=$([ "$1" = stream ] && echo .25 || echo .5)
"""


def case_bench(lab, tap):
    """calib bench writes the tables of data/h200, most telling pairs first"""
    program = lab.path("colosim")
    os.link(lab.program, program)
    os.chmod(lab.file("colosim-probe", FAKE_PROBE.format(rate_job=helper(lab, "rate_job"))), 0o755)
    (lab.folder / "running").mkdir()
    command = ["calib", "bench", "-o", "out", "--no-mps", "--quiet", "--set", "measure.window_s=0.3",
               "--set", "measure.warmup_s=0", "--set", "measure.grace_s=0.1", "--set",
               "measure.repeats=1"]
    done = lab.run(*command, "--limit", "20s", env=card(lab), program=program)
    tap.equal("exit code", done.code, 0)
    pairs = rows(lab, "out/probe_pairs.csv")
    command[command.index("out")] = "alone"
    done = lab.run(*command, "--set", "measure.fraction=0", env=card(lab), program=program)
    tap.equal("no fraction, no pairs: exit code", done.code, 0)
    solo = rows(lab, "alone/probe_solo.csv")
    tap.equal("no pairs", rows(lab, "alone/probe_pairs.csv"), [])
    kinds = {"fma", "mma", "stream", "l2", "smem", "h2d", "d2h", "launch", "graph", "occ", "spin",
             "burst", "host"}
    tap.equal("every kind alone", {row["probe"] for row in solo}, kinds)
    tap.ok("blocks are per SM of the card", {row["blocks"] for row in solo if row["probe"] == "fma"} ==
           {"1056", "66", "264"}, solo)
    tap.ok("some pairs in the time there was", len(pairs) >= 5, len(pairs))
    first = kinds - {"h2d", "d2h", "launch", "graph", "occ", "burst", "host"}
    tap.ok("of the first group", {row[f"probe_{s}"] for row in pairs[:20] for s in "ab"} <= first)
    wrong = [row for row in pairs for s in "ab" if abs(
        float(row[f"retain_{s}"]) - (.25 if row[f"probe_{s}"] == "stream" else .5)) > 1e-9]
    tap.ok("each keeps the share it was given", not wrong, wrong)
    tap.equal("nothing is left", gone(lab), [])


def case_bench_none(lab, tap):
    """calib bench without probes, card, or a driver new enough: one line, exit 6"""
    program = lab.path("colosim")
    os.link(lab.program, program)
    done = lab.run("calib", "bench", "-o", "out", program=program)
    tap.ok("without probes", done.code == 6 and "built without nvcc" in done.err, done.shown())
    probe = pathlib.Path(lab.program).parent / "calib/cuda/colosim-probe"
    if not probe.exists():
        tap.skip("a driver too old, and no device", "built without nvcc")
        return
    for name, env, said in (("no driver", {}, "CUDA error 35"),
                            ("a driver too old", {"STUB_CUDA_VERSION": "12020"}, "CUDA error 35"),
                            ("no device", {"STUB_CUDA_INIT": "100"}, "CUDA error 100")):
        done = lab.run("calib", "bench", "-o", "out", env=card(lab, **env) if env else None)
        tap.ok(name, done.code == 6 and said in done.err and len(done.err.splitlines()) == 1 and
               not os.path.exists(lab.path("out")), done.shown())


FAKE_PYTHON = """#!/bin/sh
# A torch that sees the card, and jobs of it.
[ "$1" = -c ] && exit 0
exec {rate_job} running 100 mps ready first=mps=1 share=.25
"""


def case_measure_card(lab, tap):
    """scripts/measure_card: probes and jobs in the time there is, beside a reference"""
    program = lab.path("colosim")
    os.link(lab.program, program)
    for path in (STUBS.parents[1] / "scripts/measure_card", pathlib.Path(
            lab.program).parent / "calib/cuda/libcolosim-intercept.so"):
        shutil.copy(path, lab.folder)
    probe = FAKE_PROBE.format(rate_job=helper(lab, "rate_job")).replace("ready", "ready mps")
    python = FAKE_PYTHON.format(rate_job=helper(lab, "rate_job"))
    for name, text in (("colosim-probe", probe), ("python", python)):
        os.chmod(lab.file(name, text), 0o755)
    for name in ("running", "reference"):
        (lab.folder / name).mkdir()
    head = ",".join(f"{name}_{side}" for side in "ab" for name in ("probe", "blocks", "work", "gap"))
    lab.file("reference/probe_pairs.csv", head + ",retain_a,retain_b\n" + "".join(
        f"spin,1056,{a},0.0,spin,1056,{b},0,.4,.7\n" for a in (20000, 100000) for b in (
            500000, 2000000, 10000000)) + "fma,1056,4000,9,fma,1056,4000,9,.1,.1\n")
    env = {**card(lab), "PYTHON": lab.path("python")}
    done = lab.run("out", ".8", "reference", env=env, program=lab.path("measure_card"))
    tap.equal("exit code", done.code, 0)
    tap.ok("no longer than it was given, and a window", done.seconds < 60, done.seconds)
    probes, jobs = rows(lab, "out/probes/probe_pairs.csv"), rows(lab, "out/jobs/job_solo.csv")
    tap.ok("pairs of probes, and jobs", probes and jobs, done.shown())
    out = done.out.decode()
    tap.ok("what card, and how windows ended", "Stub  a card, driver 580.00, CUDA 13000\n" in out and
           "pair ok, MPS on, counters gpm\n" in out, out)
    both = [row for row in probes if row["probe_a"] == row["probe_b"] == "spin" and {
        row["work_a"], row["work_b"]} & {"20000", "100000"} and {row["work_a"], row["work_b"]} & {
            "500000", "2000000", "10000000"}]
    told = [line for line in out.splitlines() if "; reference 0." in line]
    tap.equal("pairs that the reference has", len(told), len(both))
    if both:
        tap.ok("how far off: |.5 - .4| and |.5 - .7|, whichever comes first",
               "mean difference of what is kept 0.150\n" in out, out)
    again = lab.run("out", "0", env=env, program=lab.path("measure_card"))
    tap.ok("with no time it prints what there is", again.code == 0 and "spin" in again.out.decode(),
           again.shown())
    tap.equal("nothing is left", gone(lab), [])
    none = lab.run("none", "1", program=lab.path("measure_card"))
    tap.ok("without a card: exit 6", none.code == 6 and "libcuda.so.1" in none.err, none.shown())


def case_04_05(lab, tap):
    """04 speed or slowdown, 05 throttled samples, as recorded elsewhere"""
    alone = lab.file("solo.csv", "model,iter_ms\nx,100.0\ny,50.0\n")
    both = lab.file("together.csv", "model_a,model_b,iter_ms_a,iter_ms_b\nx,y,125.0,100.0\n")
    done = lab.run("calib", "times", alone, "--together", both, "-o", "pairs.csv")
    tap.equal("04: exit code", done.code, 0)
    tap.equal("04: speed is time alone over time together", pathlib.Path(lab.path(
        "pairs.csv")).read_text(), "model_a,model_b,speed_a,speed_b\nx,y,0.8,0.5\n")
    trace = "job,submit_s,duration_s,gpu,workload\nx,0,10,1,x\ny,0,10,1,y\n"
    run = lab.replay(trace, "1x1:v100-32g", "--set", "share.max_jobs=2", "--truth", "table",
                     "--pairs", "pairs.csv")
    tap.near("04: ends", run.column("finish_s"), {"x": 12.5, "y": 16.25})
    head = "i,iter_ms,throttled\n"
    samples = lab.file("iterations.csv", head + "0,10.0,0\n1,10.2,0\n2,9.8,0\n3,10.0,0\n4,25.0,1\n")
    done = lab.run("calib", "times", samples, "-o", "profile.csv")
    tap.equal("05: the median of the rest, and how many", (done.code, pathlib.Path(lab.path(
        "profile.csv")).read_text()), (0, "model,iter_ms,used,left_out\n,10,4,1\n"))
    hot = lab.file("all-throttled.csv", head + "0,24.0,1\n1,25.0,1\n")
    done = lab.run("calib", "times", hot, "-o", "profile.csv")
    tap.ok("05: nothing left is an error", done.code == 3 and "throttled" in done.err, done.shown())
    tap.ok("05: the old profile is unchanged", ",10,4,1" in pathlib.Path(lab.path(
        "profile.csv")).read_text())
    for text, said in (("iter_ms\n0\n", "want a time above 0"), ("ms\n1\n", "no column 'iter_ms'"),
                       ("iter_ms,throttled\n1,maybe\n", "want 0 or 1")):
        done = lab.run("calib", "times", lab.file("bad.csv", text))
        tap.ok(f"{said}: exit 3", done.code == 3 and said in done.err, done.shown())
