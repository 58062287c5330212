"""lab.py - one folder, one program: write small inputs, run colosim on them, read what it stored."""
import contextlib
import csv
import dataclasses
import io
import json
import os
import pathlib
import sqlite3
import subprocess
import time

V100 = "m1,V100,96,512,{}\n"  # a PAI machine table of one node


@dataclasses.dataclass
class Outcome:
    """How a command ended. code is negative for a signal."""
    code: int
    out: bytes
    err: str
    seconds: float

    @property
    def said(self):
        """Both streams, for checks that only ask what was said."""
        return self.out.decode(errors="replace") + self.err

    def shown(self):
        return f"exit {self.code}\n{self.out.decode(errors='replace')[-600:]}\n{self.err[-900:]}"


@dataclasses.dataclass
class Replay(Outcome):
    """A stored run: its --json summary and its job table, numbers as float."""
    summary: dict
    jobs: dict  # name -> {column: value}

    @property
    def metrics(self):
        return self.summary.get("metrics", {})

    def column(self, name):
        """{job: value}"""
        return {job: row[name] for job, row in self.jobs.items()}


def pai_row(job, start, end, gpu=100, inst=1, status="Terminated", task="worker", cpu="100.0",
            kind="V100"):
    """One line of the headerless PAI task table."""
    return f"{job},{task},{inst},{status},{start},{end},{cpu},1.0,{gpu},{kind}\n"


def native(*rows, head="job,submit_s,duration_s,gpu"):
    """A native trace from tuples."""
    return "\n".join([head, *(",".join(map(str, row)) for row in rows)]) + "\n"


def stream_of(n, gap=1, length=10, name="j{:03d}"):
    """n PAI rows of one GPU: row i from i * gap on."""
    return "".join(pai_row(name.format(i), i * gap, i * gap + length) for i in range(n))


def number(text):
    try:
        return float(text)
    except ValueError:
        return text


class Lab:
    def __init__(self, program, folder):
        self.program = str(pathlib.Path(program).resolve())
        self.folder = pathlib.Path(folder)
        self.n_databases = 0

    def file(self, name, content):
        """Writes text or bytes; the path."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return str(path)

    def path(self, name):
        return str(self.folder / name)

    def new_database(self):
        self.n_databases += 1
        return self.path(f"r{self.n_databases}.db")

    def run(self, *args, env=None, limit_s=120, **more):
        """colosim ARGS... to its end; a hang is an exception."""
        start = time.monotonic()
        done = subprocess.run([more.pop("program", self.program), *args], capture_output=True,
                              stdin=subprocess.DEVNULL, timeout=limit_s, cwd=self.folder,
                              env={**os.environ, **(env or {})}, check=False, **more)
        return Outcome(done.returncode, done.stdout, done.stderr.decode(errors="replace"),
                       time.monotonic() - start)

    def replay(self, trace, cluster, *options, policy="fifo", db=None, env=None):
        """`colosim run --json` into a database, and the job table exported from it. trace and
        cluster are paths, contents (with a line break) or, for the cluster, a SPEC."""
        if "\n" in trace:
            trace = self.file("trace.csv", trace)
        if "\n" in cluster:
            cluster = self.file("pai_machine_spec.csv", cluster)
        db = db or self.new_database()
        done = self.run("run", "--trace", trace, "--cluster", cluster, "--policy", policy,
                        "--db", db, "--json", *options, env=env)
        summary = json.loads(done.out) if done.out.strip() else {}
        jobs = self.jobs(db, summary["run"], env) if summary.get("run") else {}
        return Replay(done.code, done.out, done.err, done.seconds, summary, jobs)

    def export(self, db, run, env=None):
        return self.run("export", "--db", db, "--run", run, "--jobs", "-", env=env).out

    def jobs(self, db, run, env=None):
        rows = csv.DictReader(io.StringIO(self.export(db, run, env).decode("latin-1")))
        return {row["job"]: {name: number(text) for name, text in row.items()} for row in rows}

    @staticmethod
    def query(db, sql, *values):
        """Rows of a query on a database, or [] where the file or the table is missing."""
        if not os.path.exists(db):
            return []
        with contextlib.closing(sqlite3.connect(f"file:{db}?mode=rw", uri=True)) as connection:
            connection.text_factory = bytes
            try:
                return connection.execute(sql, values).fetchall()
            except sqlite3.OperationalError as problem:
                if "no such table" in str(problem):
                    return []
                raise

    def runs(self, db):
        """How the runs of a database ended: ["complete", ...]"""
        return [row[0].decode() for row in self.query(db, "SELECT status FROM run ORDER BY id")]

    def intact(self, db):
        return self.query(db, "PRAGMA integrity_check") == [(b"ok",)]
