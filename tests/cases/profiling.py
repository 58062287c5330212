"""profiling.py - runs that start without profiles, or with those that another has left."""
import csv
import io
import json

from lab import native

HEAD = "job,submit_s,duration_s,gpu,workload"
STORE = ["--truth", "contention", "--set", "elastico.profiling.known=store"]
# BERT twice: the second comes when the first one's profile is there (240 s); then PPO.
TRACE = native(("a", 0, 3000, 1, "BERT"), ("b", 300, 3000, 1, "BERT"), ("c", 310, 600, 1, "PPO"),
               head=HEAD)


def outcomes(run):
    return {name[len("elastico_profile_"):]: value for name, value in run.metrics.items()
            if name.startswith("elastico_profile_")}


def replay(lab, *options, cluster="1x4:a100-40g"):
    return lab.replay(TRACE, cluster, *STORE, *options, policy="elastico")


def case_arrived(lab, tap):
    """one is met, two are missed; by hand"""
    run = replay(lab, "--set", "elastico.profiling.what=arrived", "--profiles", "p.csv")
    tap.near("a and c wait four minutes for theirs", outcomes(run),
             {"hits": 1, "misses": 2, "hit_frac": 1 / 3, "wait_s": 240})
    tap.near("two profiles", run.metrics["profiling_gpu_s"], 480)
    tap.near("nobody waits for a card, all run as submitted", run.column("jct_s"),
             {"a": 3000, "b": 3000, "c": 600})
    pairs = list(csv.reader(io.StringIO((lab.folder / "p.csv").read_text())))
    tap.equal("what is left for the next", pairs,
              [["workload", "config"], ["BERT", "bs=128 ck=0 amp=1"],
               ["PPO", "bs=4096 ck=0 amp=0"]])
    again = replay(lab, "--set", "elastico.profiling.what=arrived", "--set",
                   "elastico.profiling.store=p.csv")
    tap.equal("the next meets them all", outcomes(again),
              {"hits": 3, "misses": 0, "hit_frac": 1, "wait_s": None})
    tap.near("and profiles nothing", again.metrics["profiling_gpu_s"], 0)


def case_order(lab, tap):
    """the second of two misses waits for the GPU; its family comes last"""
    run = replay(lab, "--set", "elastico.profiling.each_s=400", "--set",
                 "elastico.profiling.what=arrived")
    tap.near("a until 400, b from 300, c from 310 to 800", outcomes(run),
             {"hits": 0, "misses": 3, "hit_frac": 0, "wait_s": (400 + 100 + 490) / 3})
    both = replay(lab, "--set", "elastico.profiling.each_s=400", "--set",
                  "elastico.profiling.gpus=2", "--set", "elastico.profiling.what=arrived")
    tap.near("with two GPUs c from 310 to 710", outcomes(both)["wait_s"], (400 + 100 + 400) / 3)


def case_bytes(lab, tap):
    """the same bytes twice, and in a file as on stdout"""
    said = [lab.run("run", "--quiet", "--json", *STORE, "--profiles", name).out
            for name in ("1.csv", "2.csv")]
    told = [{key: value for key, value in json.loads(out).items() if key != "timing"}
            for out in said]
    tap.equal("runs", told[0], told[1])
    files = [(lab.folder / name).read_bytes() for name in ("1.csv", "2.csv")]
    tap.ok("files", files[0] == files[1] and files[0].count(b"\n") > 100, files[0][:200])


def case_refused(lab, tap):
    """a store that is none: what is wrong, where, and exit 3"""
    for text, line, said in (("workload,config\nBERT,bs=3\n", 2, "column config: 'bs=3'"),
                             ("workload,config\n\nBERT,bs=64\nB,bs=3\n", 4,
                              "column workload: 'B'"),
                             ("workload,config\nBERT,bs\n", 2, "such as 'bs=128 ck=0 amp=0'"),
                             ("workload,konfig\nBERT,bs=64\n", 1, "columns workload and config")):
        path = lab.file("s.csv", text)
        done = lab.run("run", "--quiet", *STORE, "--set", f"elastico.profiling.store={path}",
                       "--profiles", "out.csv")
        tap.ok(said, done.code == 3 and f"s.csv:{line}: " in done.err and said in done.err and
               done.out == b"" and not (lab.folder / "out.csv").exists(), done.shown())
    for text, said in (("workload,config\nBERT,bs=64,3\n", "line 2"), ("", "empty")):
        path = lab.file("s.csv", text)
        done = lab.run("run", "--quiet", *STORE, "--set", f"elastico.profiling.store={path}")
        tap.ok(said, done.code == 3 and "s.csv" in done.err and said in done.err, done.shown())
    done = lab.run("run", "--quiet", *STORE, "--set", "elastico.profiling.store=none.csv")
    tap.ok("no such file", done.code == 3 and "none.csv" in done.err, done.shown())
    lab.file("s.csv", "workload,config\n")
    done = lab.run("run", "--quiet", "--set", "elastico.profiling.store=s.csv")
    tap.ok("a store that does not count: exit 2", done.code == 2 and "s.csv" in done.err, done.shown())
    for options in (["--policy", "elastico"], ["--policy", "fifo"]):
        done = lab.run("run", "--quiet", *options, "--profiles", "out.csv")
        tap.ok(f"{options[1]}: no store, none written: exit 2", done.code == 2 and
               "profiling.known=store" in done.err and not (lab.folder / "out.csv").exists(),
               done.shown())
    done = lab.run("run", "--quiet", *STORE, "--profiles", "no/such/folder.csv")
    tap.ok("it cannot be written: exit 4", done.code == 4 and "folder.csv" in done.err,
           done.shown())
