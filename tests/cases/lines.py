"""lines.py - the command lines that papers and CI jobs may depend on work as written."""
import csv
import gzip
import io
import json
import os
import pathlib
import re
import shutil
import subprocess
import xml.etree.ElementTree as xml

from lab import number

ROOT = pathlib.Path(__file__).parents[2]
SHARED = pathlib.Path(os.environ.get("COLOSIM_SHARED", ROOT.parent / "shared"))
METRICS = """jobs_completed jobs_rejected jobs_unfinished offered_load jct_mean_s jct_sd_s jct_p50_s
jct_p90_s jct_p99_s wait_mean_s wait_p50_s wait_p90_s wait_p99_s wait_max_s makespan_s gpu_seconds
throughput_gpus sm_util_mean mem_util_mean gpu_alloc_mean gpu_alloc_max attain_frac
attain_train_frac attain_infer_frac slowdown_mean interference_mean preemptions migrations reconfigs
profiling_gpu_s passes events""".split()
TIMING = ["decide_mean_ms", "decide_p99_ms", "wall_s", "cpu_s", "peak_rss_mib"]


def shell(lab, line):
    """The line as a person types it, in an empty folder, with colosim on the PATH."""
    os.makedirs(lab.path("bin"), exist_ok=True)
    if not os.path.exists(lab.path("bin/colosim")):
        os.symlink(lab.program, lab.path("bin/colosim"))
    path = f"{lab.path('bin')}:{os.environ['PATH']}"
    return subprocess.run(["sh", "-c", line], cwd=lab.folder, capture_output=True, text=True,
                          env={**os.environ, "PATH": path}, check=False, timeout=250)


def case_run(lab, tap):
    """colosim run"""
    done = shell(lab, "colosim run")
    tap.equal("exit code", done.returncode, 0)
    tap.ok("a summary on stdout", re.search(r"\d+ completed(.*\n)+jct_\*_s +\d+", done.stdout),
           done.stdout)
    said = json.loads(shell(lab, "colosim run --json --quiet").stdout)
    tap.equal("under ElastiCo", said["policy"], "elastico")
    tap.equal("with contention as the physics", said["truth"], "contention")
    tap.equal("the metrics are those of the contract, in order", list(said["metrics"]),
              METRICS + ["elastico_passes", "elastico_gap_mean", "elastico_violation_frac"])
    tap.equal("apart from them, the timing", sorted(said["timing"]), sorted(TIMING))
    tap.ok("about 1,000 jobs", 900 <= said["metrics"]["jobs_completed"] <= 1100, said["metrics"])
    tap.near("at an offered load of 1.2", said["metrics"]["offered_load"], 1.2, 0.02)
    tap.equal("nothing is written without --db", sorted(os.listdir(lab.folder)), ["bin"])


def case_pai(lab, tap):
    """colosim run of 60,105 real PAI tasks"""
    table = SHARED / "data/pai/pai_task_table_sub60105.csv.gz"
    if not table.exists():
        tap.skip("real PAI rows", "no shared data; set COLOSIM_SHARED")
        return
    os.symlink(table, lab.path(table.name))
    done = shell(lab, "colosim run --trace pai_task_table_sub60105.csv.gz --format pai --cluster "
                 "64x8:a100-40g --policy fifo-skip --truth none --db r.db --json --quiet")
    tap.equal("exit code", done.returncode, 0)
    tap.equal("nothing on stderr", done.stderr, "")
    said = json.loads(done.stdout)
    tap.near("every job ends", said["metrics"]["jobs_completed"], 59994)
    tap.ok("well under a second of CPU", said["timing"]["cpu_s"] < 1, said["timing"])


def case_export(lab, tap):
    """colosim run --label base && colosim export --jobs -"""
    done = shell(lab, "colosim run --policy sjf --seed 7 --db r.db --label base > summary && "
                 "colosim export --db r.db --run base --jobs -")
    tap.equal("exit code", done.returncode, 0)
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    stored = lab.query(lab.path("r.db"), "SELECT count(*) FROM job")
    tap.equal("a row per job", (len(rows),), stored[0])
    waits = [number(row["wait_s"]) for row in rows if row["status"] == "done"]
    said = json.loads(shell(lab, "colosim run --policy sjf --seed 7 --json --quiet").stdout)
    tap.near("mean wait of the rows is the metric", sum(waits) / len(waits),
             said["metrics"]["wait_mean_s"], 1e-6)
    for row in rows[:50]:
        if row["status"] == "done" and abs(float(row["finish_s"]) - float(row["submit_s"])
                                           - float(row["jct_s"])) > 1e-6:
            tap.ok("jct = finish - submit", False, row)


def case_compare(lab, tap):
    """colosim compare over seeds"""
    done = shell(lab, "colosim compare --policy fifo,sjf,easy-backfill --load 1.6 --seeds 1..5 "
                 "--db r.db")
    tap.equal("exit code", done.returncode, 0)
    tap.ok("a row per policy", all(name in done.stdout for name in
                                   ("fifo", "sjf", "easy-backfill")), done.stdout)
    tap.equal("15 runs are stored", lab.runs(lab.path("r.db")), ["complete"] * 15)
    loads = lab.query(lab.path("r.db"), "SELECT DISTINCT round(value, 3) FROM metric "
                      "WHERE name = 'offered_load'")
    tap.equal("at that load", loads, [(1.6,)])


def case_synth(lab, tap):
    """colosim trace synth"""
    done = shell(lab, "colosim trace synth --seed 3 -o t.csv && colosim trace synth --seed 3 -o u.csv"
                 " && colosim trace synth --seed 4 -o v.csv && colosim run --trace t.csv --json")
    tap.equal("exit code", done.returncode, 0)
    t, u, v = (pathlib.Path(lab.path(f"{name}.csv")).read_bytes() for name in "tuv")
    tap.ok("the same seed, the same bytes; another, others", t == u and t != v)
    tap.near("offered load of the trace", json.loads(done.stdout)["metrics"]["offered_load"], 1.2,
             0.02)
    done = shell(lab, "colosim trace synth --set jobs=1000000 --set load=0.9 --cluster "
                 "128x8:a100-40g --seed 3 -o t.csv.gz")
    tap.equal("a million jobs: exit code", done.returncode, 0)
    with gzip.open(lab.path("t.csv.gz"), "rt") as file:
        columns = next(csv.reader(file))
        rows = list(csv.reader(file))
    tap.equal("a million rows", len(rows), 1000000)
    submit, duration, gpu = (columns.index(name) for name in ("submit_s", "duration_s", "gpu"))
    instances = columns.index("instances") if "instances" in columns else None
    work = sum(float(row[duration]) * float(row[gpu]) * (float(row[instances]) if instances else 1)
               for row in rows)
    span = max(float(row[submit]) for row in rows) - min(float(row[submit]) for row in rows)
    tap.near("offered load", work / 1024 / span, 0.9, 0.01)


def case_check(lab, tap):
    """colosim check against a baseline"""
    shell(lab, "colosim run --policy sjf --seed 7 --db r.db --label base")
    done = shell(lab, "colosim check --db r.db --run base --save base.json")
    tap.equal("saving: exit code", done.returncode, 0)
    done = shell(lab, "colosim check --db r.db --run base --baseline base.json --tol jct_mean_s=3% "
                 "--junit out.xml")
    tap.equal("exit code", done.returncode, 0)
    tap.equal("no failure in the XML",
              xml.parse(lab.path("out.xml")).getroot().findall(".//failure"), [])


def case_plot(lab, tap):
    """colosim plot of two runs"""
    shell(lab, "colosim run --db r.db --label base --quiet; "
               "colosim run --policy lucid --db r.db --label lucid --quiet")
    done = shell(lab, "colosim plot --db r.db --figure jct-cdf --run base,lucid -o jct.svg")
    drawn = shutil.which("gnuplot") is not None
    tap.equal("exit code", done.returncode, 0 if drawn else 6)
    tap.ok("the figure, or what it is made of",
           os.path.exists(lab.path("jct.svg" if drawn else "jct.svg.dat")), os.listdir(lab.folder))


def case_characterize(lab, tap):
    """colosim trace characterize of a folder"""
    lab.file("genai/qps.csv", "timestamp_anon,value,container_ip,request_type\n0,1,,API\n57,3,,API\n")
    done = shell(lab, "colosim trace characterize --format genai --trace genai/")
    tap.equal("exit code", done.returncode, 0)
    tap.ok("the paper's 0.87 beside ours, 1 / 2", re.search(r"CV +0\.87 +0\.5 ", done.stdout), done.stdout)


def case_help(lab, tap):
    """--help of every command"""
    done = shell(lab, "colosim --help")
    tap.equal("colosim --help: exit code", done.returncode, 0)
    for command in ("run", "compare", "ls", "show", "export", "check", "describe", "plot",
                    "report", "trace", "trace info", "trace show", "trace convert", "trace synth",
                    "trace sample", "trace characterize"):
        tap.ok(f"it names {command.split()[0]}", command.split()[0] in done.stdout, done.stdout)
        help_of = shell(lab, f"colosim {command} --help")
        tap.ok(f"colosim {command} --help", help_of.returncode == 0 and
               f"colosim {command}" in help_of.stdout, help_of.stdout + help_of.stderr)
    for line in ("colosim", "colosim frobnicate", "colosim trace frobnicate", "colosim run extra"):
        done = shell(lab, line)
        tap.ok(f"{line}: exit code 2 and a word on stderr", done.returncode == 2 and done.stderr,
               done)
