"""workloads.py - catalogs of workloads on the command line, and runs under contention."""
import json

from lab import native

# x keeps half of the SMs busy, or four fifths at bs=2; y two fifths. Under queue_prior
# S - 1 is .3 of the product where nothing else is used.
CATALOG = json.dumps({"name": "mine", "workloads": [
    {"name": "x", "kind": "train", "model": "measured", "card": "a100-40g", "unit": "img",
     "knobs": {"bs": [1, 2]}, "profiles": [
         {"bs": 1, "rate": 10, "sm": 0.5, "fb_mib": 20000},
         {"bs": 2, "rate": 20, "sm": 0.8, "fb_mib": 30000}]},
    {"name": "y", "kind": "infer", "model": "measured", "card": "a100-40g", "unit": "token",
     "knobs": {"bs": [1]}, "profiles": [{"rate": 1, "sm": 0.4, "fb_mib": 15000}]}]})
HEAD = "job,submit_s,duration_s,gpu,workload,config"


def case_describe(lab, tap):
    """describe workloads lists a catalog"""
    text = lab.run("describe", "workloads").out.decode()
    tap.ok("the twelve of Table 2", "ResNet-50: train" in text and "768 configurations" in text,
           text)
    listed = json.loads(lab.run("describe", "workloads", "--json").out)
    tap.equal("counts", [w["n_configs"] for w in listed],
              [20, 12, 20, 20, 20, 32, 36, 32, 198, 198, 90, 90])
    tap.equal("the peak of BERT", listed[1]["peak"], "bs=128 ck=0 amp=1")
    h200 = json.loads(lab.run("describe", "workloads", "--catalog", "h200", "--gpu", "h200",
                              "--json").out)
    tap.equal("the H200's jobs", (len(h200), {w["source"] for w in h200}), (23, {"measured"}))


def case_describe_one(lab, tap):
    """describe workloads NAME shows its configurations on a card"""
    text = lab.run("describe", "workloads", "BERT").out.decode()
    tap.equal("twelve rows", sum(line[2:5] == "bs=" for line in text.splitlines()), 12)
    tap.ok("its coefficients with their marks", "rate_inf = 332 M" in text, text)
    told = json.loads(lab.run("describe", "workloads", "Mistral-7b", "--gpu", "v100-32g",
                              "--json").out)
    fits = {row["mu"] for row in told["configs"] if row["fits"]}
    tap.equal("what 32 GB hold", fits, {0.7, 0.75})
    tap.ok("only what fits needs scoring",
           all(row["fits"] for row in told["configs"] if row["frontier"]))
    wrong = lab.run("describe", "workloads", "BRT")
    tap.ok("an unknown one: exit 2, and the nearest", wrong.code == 2 and "'BERT'" in wrong.err,
           wrong.shown())
    wrong = lab.run("describe", "workloads", "--gpu", "t4")
    tap.ok("a card without profiles: exit 2, and those there are",
           wrong.code == 2 and "h100-80g" in wrong.err, wrong.shown())
    tap.equal("a catalog that is no file: exit 3",
              lab.run("describe", "workloads", "--catalog", "none.json").code, 3)


def case_contention(lab, tap):
    """two jobs of a user's catalog share a card"""
    trace = native(("a", 0, 100, 1, "x", ""), ("b", 0, 50, 1, "y", ""), head=HEAD)
    run = lab.replay(trace, "1x1:a100-40g", "--catalog", lab.file("c.json", CATALOG), "--truth",
                     "contention", "--set", "contention.set=queue_prior", "--set",
                     "share.max_jobs=2", "--set", "submitted=default")
    tap.near("jct: S is 1.06 while both run", run.column("jct_s"), {"a": 103, "b": 53})
    tap.near("SM activity", run.metrics["sm_util_mean"], (53 * 0.9 / 1.06 + 50 * 0.5) / 103)
    tap.near("memory held", run.metrics["mem_util_mean"],
             (53 * 35000 + 50 * 20000) / (40960 * 103))
    tap.equal("the truth is told", run.summary["truth"], "contention")
    peak = lab.replay(trace, "1x1:a100-40g", "--catalog", lab.path("c.json"), "--truth",
                      "contention", "--set", "share.max_jobs=2")
    tap.near("at its peak x leaves no room: jct", peak.column("jct_s"), {"a": 100, "b": 150})


def case_listed(lab, tap):
    """the configuration a trace lists is the one submitted"""
    trace = native(("a", 0, 100, 1, "x", "bs=1"), ("b", 0, 50, 1, "y", "bs=7"), head=HEAD)
    catalog = lab.file("c.json", CATALOG)
    run = lab.replay(trace, "1x1:a100-40g", "--catalog", catalog, "--set", "submitted=listed",
                     "--set", "share.max_jobs=2", "--truth", "none")
    tap.near("x at bs=1 leaves room: jct", run.column("jct_s"), {"a": 100, "b": 50})
    tap.ok("what is not in the catalog is counted", "c.json does not have: 1;" in run.err,
           run.shown())


def case_outside(lab, tap):
    """jobs outside the catalog do not interfere and are counted"""
    trace = native(("a", 0, 100, 1, "BERT", ""), ("b", 0, 100, 1, "mine", ""), head=HEAD)
    run = lab.replay(trace, "1x1:a100-40g", "--truth", "contention", "--set", "share.max_jobs=2")
    tap.near("jct", run.column("jct_s"), {"a": 100, "b": 100})
    tap.ok("the report says how many", "is not in catalog table2: 1;" in run.err, run.shown())
    tap.equal("SM activity is not known", run.metrics["sm_util_mean"], None)
    plain = lab.replay(native(("a", 0, 10, 1)), "1x1:a100-40g", "--truth", "contention")
    tap.ok("a trace without workloads says so", "no job names a workload" in plain.err,
           plain.shown())
    none = lab.run("run", "--truth", "contention", "--set", "catalog=")
    tap.ok("no catalog, no contention: exit 2", none.code == 2 and "catalog" in none.err,
           none.shown())


def case_cards(lab, tap):
    """a job asked for on one card runs at another's pace on another"""
    trace = native(("a", 0, 100, 1, "ResNet-50", "a100-40g"),
                   head="job,submit_s,duration_s,gpu,workload,gpu_type")
    told = {gpu: json.loads(lab.run("describe", "workloads", "ResNet-50", "--gpu", gpu,
                                    "--json").out) for gpu in ("a100-40g", "h200")}
    rate = {gpu: max(row["rate"] for row in one["configs"]) for gpu, one in told.items()}
    run = lab.replay(trace, "1x1:h200")
    tap.near("jct", run.column("jct_s"), {"a": 100 * rate["a100-40g"] / rate["h200"]}, 1e-5)


def case_unknown_card(lab, tap):
    """a cluster of cards without profiles is not bound to the catalog"""
    trace = native(("a", 0, 100, 1, "LLaMA-3-7b"), head="job,submit_s,duration_s,gpu,workload")
    run = lab.replay(trace, "1x1:t4", "--truth", "contention")
    tap.near("28 GiB do not matter there: jct", run.column("jct_s"), {"a": 100})
    tap.ok("the report says so", "no card has profiles" in run.err, run.shown())
    tap.equal("nothing is known of its SMs", run.metrics["sm_util_mean"], None)
    small = lab.replay(trace, "1x1:a100-40g", "--set", "submitted=default")
    tap.near("on a known card it fits", small.column("jct_s"), {"a": 100})


def case_embedded(lab, tap):
    """the embedded trace has profiles for all its jobs"""
    run = json.loads(lab.run("run", "--policy", "fifo-skip", "--truth", "contention", "--set",
                             "share.max_jobs=2", "--json", "--quiet").out)
    metrics = run["metrics"]
    tap.ok("SM activity and memory are told",
           0 < metrics["sm_util_mean"] < 1 and 0 < metrics["mem_util_mean"] < 1, metrics)
    tap.ok("and jobs slow each other", metrics["interference_mean"] > 1, metrics)
