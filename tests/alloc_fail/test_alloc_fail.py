#!/usr/bin/env python3
"""test_alloc_fail.py COLOSIM FAIL_NTH.so: every n-th allocation fails, alone and with all later
ones, in the commands that load, run, store and report.

A command then ends with the code for memory that could not be had (a JSON file cut short by it may
be refused instead) and a message, or survives with the same results; it never dies of a signal, and
a run is in the database whole or not at all."""
import concurrent.futures
import contextlib
import json
import os
import pathlib
import shutil
import sqlite3
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from tap import Tap

FIRST = 250  # the first allocations fail one by one, the rest in strides
STRIDES = 120
N_JOBS = 12
TRACE = "job,submit_s,duration_s,gpu,gpu_type,user\n" + "".join(
    f"j{i},{i % 5},{10 + i},{(1, 0.5, 2)[i % 3]},V100,u{i % 4}\n" for i in range(N_JOBS))
QUEUES = "job,submit_s,duration_s,gpu,gpu_min,gpu_max,queue\n" + "".join(
    f"q{i},{i % 5},{10 + i},2,{1 + i % 2},{2 + i % 3},q{i % 3}\n" for i in range(N_JOBS))
WORK = "job,submit_s,duration_s,gpu,workload\n" + "".join(
    f"w{i},{i % 5},{10 + i},1,{('PPO', 'LSTM', 'mine')[i % 3]}\n" for i in range(N_JOBS))
PHILLY = json.dumps([
    {"jobid": f"p{i}", "vc": f"v{i % 2}", "user": "u", "status": "Pass",
     "submitted_time": f"2017-10-10 01:00:{i:02}", "attempts": [
         {"start_time": "2017-10-10 02:00:00", "end_time": "2017-10-10 03:00:00",
          "detail": [{"gpus": ["g"] * (5 * i + 1)}]}]} for i in range(N_JOBS)], indent=1)
STUDY = json.dumps({"settings": {"trace": "t.csv", "cluster": "2x2:v100-16g"}, "seeds": [1, 2],
                    "variants": {"a": {"policy": "fifo"}, "b": {"policy": "sjf"}}})
PAI = "".join(f"p{i},worker,1,Terminated,{i},{i + 9},100,1,50,V100\n" for i in range(N_JOBS))

SOLO = "job,samples_per_s,steps_per_s,peak_alloc_mib,sm,occ,tensor,dram\n" + "".join(
    f"s{i}-b8,{80 + 8 * i},{10 + i},1000,{20 + 9 * i},10,{5 * i},{30 - i}\n" for i in range(6))
PAIRS = "job_a,job_b,retain_a,retain_b\n" + "".join(
    f"s{i}-b8,s{j}-b8,{.9 - .05 * i},{.9 - .04 * j}\n" for i in range(6) for j in range(i + 1))
RECORD = "job,start_s,end_s\n" + "".join(f"w{i},{i % 5 + 1},{50 + i}\n" for i in range(N_JOBS))
PHYSICS = json.dumps({
    "format": "colosim physics", "version": 1,
    "alpha": {r: {"value": .5} for r in ("sm", "tensor", "dram", "host")}, "kappa": {"value": 0},
    "m": {"value": 1}, "log_w_of_step": {"at_1_s": {"value": 1}, "slope": {"value": .4}},
    "jobs": [{"job": "PPO", "log_w": {"value": .1}, "workloads": "", "phase": "all"}]}, indent=1)
STATE = json.dumps({"cluster": "1x2:a100-40g", "prices": [.1], "running": [
    {"name": "a", "gpus": 1, "left_s": 900, "workload": "BERT", "config": "bs=64 amp=1",
     "at": [{"name": "0", "cards": [0]}]},
    {"name": "b", "gpus": 1, "left_s": 9, "tolerance": 2, "at": [{"node": 0, "cards": [1]}]}],
    "waiting": [{"name": f"w{i}", "gpus": 1, "left_s": 500, "workload": w, "user": "u"}
                for i, w in enumerate(("PPO", "LSTM", "mine"))]}, indent=1)
FILES = {"state.json": STATE, "t.csv": TRACE, "pai.csv": PAI, "queues.csv": QUEUES, "work.csv": WORK, "log": PHILLY,
         "solo.csv": SOLO, "pairs.csv": PAIRS, "record.csv": RECORD, "physics.json": PHYSICS, "study.json": STUDY,
         "conf.json": '{"seed": 3, "share": {"max_jobs": 1}}'}


class Lab:
    def __init__(self, program, preload, folder):
        self.program, self.preload, self.folder = program, preload, pathlib.Path(folder)
        for name, text in FILES.items():
            (self.folder / name).write_text(text)

    def run(self, args, folder=None, **env):
        env = {name: str(value) for name, value in env.items()}
        folder = pathlib.Path(folder or self.folder)
        with open(folder / "state.json" if args[0] == "decide" else os.devnull, "rb") as stdin:
            return subprocess.run([self.program, *args], cwd=folder, check=False,
                                  capture_output=True, timeout=120, stdin=stdin,
                                  env={**os.environ, "LD_PRELOAD": self.preload, **env})

    def faults(self, args, whole, n, all_later):
        """What is wrong with the command when its n-th allocation fails; [] if nothing."""
        with tempfile.TemporaryDirectory(dir=self.folder) as folder:
            for name in (*FILES, "base.db", "base.json"):
                if (self.folder / name).exists():
                    shutil.copy(self.folder / name, folder)
            more = {"FAIL_ALL": 1} if all_later else {}
            done = self.run(args, folder, FAIL_NTH=n, **more)
            at = f"n = {n}{' and all later' if all_later else ''}: "
            said = f"exit {done.returncode}, {done.stderr.decode(errors='replace')[-300:]!r}"
            json_read = {"--config", "--baseline", "--model"} & set(args)
            codes = (0, 4, 2, 3) if json_read else (0, 4)
            if args[0] == "sweep":  # a point may have failed, or all of them
                codes = (0, 1, 2, 4, 5)
            if done.returncode not in codes:
                return [at + said]
            if done.returncode != 0 and not done.stderr.strip():
                return [at + f"exit {done.returncode} without a message"]
            if done.returncode == 0 and done.stdout != whole.stdout:
                return [at + "exit 0 with other results"]
            return [at + fault for fault in database_faults(folder, args, done.returncode)]


def database_faults(folder, args, code):
    """The earlier run must be there, and a new one whole or not at all."""
    path = pathlib.Path(folder) / "base.db"
    if not path.exists():
        return []
    with contextlib.closing(sqlite3.connect(path)) as connection:
        check = connection.execute("PRAGMA integrity_check").fetchall()
        runs = connection.execute("SELECT status, (SELECT count(*) FROM job "
                                  "WHERE job.run = run.id) FROM run").fetchall()
    faults = [] if check == [("ok",)] else [f"integrity_check says {check}"]
    if any(run != ("complete", N_JOBS) for run in runs):
        faults.append(f"half a run is stored: {runs}")
    stored = 2 if args[0] == "run" and "--db" in args else 1
    if len(runs) not in ((stored,) if code == 0 else (1, stored)):
        faults.append(f"{len(runs)} runs are stored after exit {code}")
    return faults


def places(total):
    """Which allocations are made to fail, of total."""
    rest = range(FIRST + 1, total + 1, max(1, (total - FIRST) // STRIDES))
    return [*range(1, min(FIRST, total) + 1), *rest]


COMMANDS = {
    "run": ["run", "--trace", "t.csv", "--cluster", "2x2:v100-16g", "--policy", "easy-backfill",
            "--config", "conf.json", "--db", "base.db", "--label", "new", "--quiet"],
    "run without a database": ["run", "--trace", "pai.csv", "--format", "pai", "--cluster",
                               "1x4:v100-16g", "--policy", "srtf", "--set", "preempt.restart_s=1",
                               "--quiet"],
    "elastic jobs": ["run", "--trace", "queues.csv", "--cluster", "1x4", "--policy",
                     "elastic-fifo", "--quiet"],
    "queues": ["run", "--trace", "queues.csv", "--cluster", "2x2", "--policy", "fair-queues",
               "--set", "fair-queues.weights=q0:2,q1:0", "--quiet"],
    "philly": ["trace", "convert", "--trace", "log", "--set", "trace.assign=on", "-o", "-"],
    "contention": ["run", "--trace", "work.csv", "--cluster", "1x2:a100-40g", "--policy",
                   "fifo-skip", "--truth", "contention", "--set", "share.max_jobs=2", "--quiet"],
    "contention of a file": ["run", "--trace", "work.csv", "--cluster", "1x2:a100-40g", "--policy",
                             "fifo-skip", "--truth", "contention", "--model", "physics.json",
                             "--set", "share.max_jobs=2", "--quiet"],
    "calib fit": ["calib", "fit", "--pairs", "pairs.csv", "--solo", "solo.csv", "--profiles",
                  "solo.csv", "--repeats", "1", "--date", "x", "-o", "-", "--quiet"],
    "calib validate": ["calib", "validate", "--trace", "work.csv", "--cluster", "1x2:a100-40g",
                       "--policy", "fifo-skip", "--recorded", "record.csv", "--quiet"],
    "workloads": ["describe", "workloads", "BERT"],
    "trace info": ["trace", "info", "--trace", "pai.csv"],
    "trace convert": ["trace", "convert", "--trace", "pai.csv", "-o", "-"],
    "trace characterize": ["trace", "characterize", "pai.csv", "--format", "pai", "--json"],
    "report": ["report", "--db", "base.db", "-o", "-"],
    "export": ["export", "--db", "base.db", "--run", "base", "--jobs", "-"],
    "check": ["check", "--db", "base.db", "--run", "base", "--baseline", "base.json",
              "--junit", "out.xml"],
    "sweep": ["sweep", "study.json", "--db", "s.db", "-j", "1", "--quiet"],
    "diff": ["diff", "base", "base", "--db", "base.db"],
    "capacity": ["capacity", "--trace", "t.csv", "--cluster", "1x2:v100-16g", "--target",
                 "jct_mean_s=30", "--quiet"],
    "decide": ["decide", "--quiet"],
    "why": ["why", "base", "j11", "--db", "base.db"],
}


def main():
    tap = Tap()
    with tempfile.TemporaryDirectory(prefix="colosim-") as folder:
        lab = Lab(*map(os.path.abspath, sys.argv[1:]), folder)
        run = [arg if arg != "new" else "base" for arg in COMMANDS["run"]]
        tap.equal("a run to begin with", lab.run(run).returncode, 0)
        lab.run(["check", "--db", "base.db", "--run", "base", "--save", "base.json"])
        for name, args in COMMANDS.items():
            scratch = pathlib.Path(folder) / "whole"
            shutil.copytree(folder, scratch)
            whole = lab.run(args, scratch, FAIL_COUNT="count")
            total = int((scratch / "count").read_text())
            shutil.rmtree(scratch)
            tap.ok(f"{name}: works with {total} allocations", whole.returncode == 0 and total > 5,
                   whole)
            tries = [(n, later) for later in (False, True) for n in places(total)]
            with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
                found = list(pool.map(lambda at: lab.faults(args, whole, *at), tries))
            faults = [fault for faults in found for fault in faults]
            tap.ok(f"{name}: ends well at {len(tries)} failures", not faults,
                   f"{len(faults)} faults\n" + "\n".join(faults[:12]))
    return tap.end()


sys.exit(main())
