"""layouts.py - training laid out over cards, and bandwidths that jobs take: catalogs and clusters."""
import json
import pathlib

from lab import native
from lines import shell

EXAMPLE = str(pathlib.Path(__file__).parents[2] / "docs" / "examples" / "transformers.json")
LINK, NIC = 0.6 * 300e9, 0.9 * 25e9  # docs/parallel.md, an A100's

# One second a sample on one card of 20,000 MiB; 8 samples a step, .75 GB of gradients.
CATALOG = json.dumps({"workloads": [
    {"name": "x", "kind": "train", "model": "measured", "card": "a100-40g", "unit": "s",
     "knobs": {"bs": [1]}, "profiles": [{"rate": 1, "sm": 0.5, "fb_mib": 20000}],
     "parallel": {"batch": [8, "A"], "layers": [4, "A"], "grad_bytes": [0.75e9, "A"],
                  "act_bytes": [1e6, "A"], "state_bytes": [1e9, "A"], "dp_exposed": [1, "A"],
                  "tp_spans": [0, "A"]}}]})
HEAD = "job,submit_s,duration_s,gpu,instances,workload"


def nodes(lab, *nodes_, name="cluster.json"):
    return lab.file(name, json.dumps({"nodes": nodes_}))


def case_example(lab, tap):
    """describe workloads shows the example's layouts"""
    told = json.loads(lab.run("describe", "workloads", "llama2-7b", "--catalog", EXAMPLE, "--gpu",
                              "a100-80g", "--json").out)
    row = {(c["bs"], c["ck"], c["tp"], c["pp"]): c for c in told["configs"]}
    one = row[1, 0, 1, 1]
    tap.near("18 bytes a parameter and 34 s h bytes a layer, MiB", one["fb_mib"],
             (18 * 6738415616 + 34 * 4096 * 4096 * 32) / 2**20, 1)
    tap.ok("which no card of 80 GB holds", not one["fits"], one)
    for tp, pp in ((2, 1), (8, 1), (1, 4), (4, 8)):
        state = 18 * 6738415616 / (tp * pp)
        tap.near(f"memory of tp={tp} pp={pp}", row[1, 0, tp, pp]["fb_mib"],
                 (state + 34 * 4096 * 4096 * 32 / tp) / 2**20, 1)
        slot = 1 / one["rate"] / (tp * pp) + 4 * 32 / pp * 2 * (tp - 1) / tp * 2**25 / LINK
        slot += 2 * 2**25 / tp / (NIC if tp * pp > 8 else LINK) if pp > 1 else 0
        tap.near(f"rate of tp={tp} pp={pp}", row[1, 0, tp, pp]["rate"],
                 1024 / ((1024 + pp - 1) * slot), 1e-6)
    tap.equal("what it is made of", told["parallel"]["batch"], 1024)
    text = lab.run("describe", "workloads", "llama2-7b", "--catalog", EXAMPLE).out.decode()
    tap.ok("sources are shown", "act_bytes = 3.35544e+07 D" in text and "0.6 S" in text, text)
    tap.ok("and the best by cards", "fastest on" in text and "  2 cards   none fits" in text, text)


def case_nodes(lab, tap):
    """a gang is as slow as its nodes' links, from the cluster's file"""
    catalog = lab.file("c.json", CATALOG)
    trace = native(("wait", 0, 500, 2, 1, ""), ("b", 1, 900, 1, 2, "x"), head=HEAD)
    # Both cards of one node have .75 GB/s: 4 s and 1 s. On two nodes of .1125 GB/s: 4 + 6.667 s.
    two = {"gpus": 2, "gpu_type": "a100-40g", "link_gbps": 10, "nic_gbps": 2}
    one = {"gpus": 1, "gpu_type": "a100-40g", "link_gbps": 10, "nic_gbps": 1, "count": 2}
    run = lab.replay(trace, nodes(lab, two, one), "--catalog", catalog)
    tap.near("over two nodes: jct", run.column("jct_s"), {"wait": 500,
                                                          "b": 900 * (4 + 0.75 / 0.1125) / 5})
    run = lab.replay(trace, nodes(lab, two, two), "--catalog", catalog)
    tap.near("on one node: jct", run.column("jct_s"), {"wait": 500, "b": 900})


def case_wrong_nodes(lab, tap):
    """bandwidths of a cluster's file are checked"""
    trace = lab.file("t.csv", native(("a", 0, 10, 1)))
    for node, word in (({"nic_gbps": 0}, "nodes[0]: nic_gbps is 0, want more"),
                       ({"link_gbps": -1}, "nodes[0]: link_gbps is -1, want 0 to 1e+06"),
                       ({"nic_gbps": "fast"}, "nodes[0]: nic_gbps must be a number"),
                       ({"storage_gbps": 0}, "nodes[0]: storage_gbps is 0, want more"),
                       ({"nic_gbp": 1}, "did you mean 'nic_gbps'")):
        done = lab.run("run", "--trace", trace, "--cluster", nodes(lab, {"gpus": 1, **node}))
        tap.ok(f"{word}: exit 2, and why", done.code == 2 and word in done.err, done.shown())
    done = lab.run("run", "--trace", trace, "--cluster", lab.file("d.json", '{"nodes": [\n 1 2]}'))
    tap.ok("no JSON: exit 2, line and column",
           done.code == 2 and "d.json: line 2 column 4" in done.err, done.shown())


def case_wrong_catalog(lab, tap):
    """a wrong layout of a catalog: exit 3, and where"""
    wrong = CATALOG.replace('"batch": [8, "A"]', '"batch": [8]')
    done = lab.run("describe", "workloads", "--catalog", lab.file("c.json", wrong))
    tap.ok("exit 3, and where", done.code == 3 and "c.json: workloads[0] x: parallel.batch: want "
           "[number, mark]" in done.err, done.shown())


# 6 Gbit/s of storage on each card, or 2 for half the speed; 3 of the NIC.
TAKES = json.dumps({"workloads": [
    {"name": "x", "kind": "train", "model": "measured", "card": "a100-40g", "unit": "s",
     "knobs": {"bs": [1, 2]}, "default": {"bs": 2}, "nic_gbps": 3, "storage_gbps": 6, "profiles": [
         {"bs": 1, "rate": 1, "sm": 0.5, "fb_mib": 9000, "storage_gbps": 2},
         {"bs": 2, "rate": 2, "sm": 0.5, "fb_mib": 9000}]}]})


def case_bandwidth(lab, tap):
    """jobs that a node has no bandwidth for wait, or go elsewhere"""
    catalog = lab.file("c.json", TAKES)
    trace = native(("a", 0, 100, 1, 1, "x"), ("b", 0, 100, 1, 1, "x"), head=HEAD)
    node = {"gpus": 2, "gpu_type": "a100-40g"}
    for more, started in (({}, 0), ({"storage_gbps": 12, "nic_gbps": 6}, 0),
                          ({"storage_gbps": 11.9}, 100), ({"nic_gbps": 5.9}, 100),
                          ({"nic_gbps": 5.9, "count": 2}, 0)):
        run = lab.replay(trace, nodes(lab, {**node, **more}), "--catalog", catalog)
        tap.near(f"nodes with {more}: b starts", run.column("start_s"), {"a": 0, "b": started})
    told = json.loads(lab.run("describe", "workloads", "x", "--catalog", catalog, "--json").out)
    tap.equal("describe tells", [(c["nic_gbps"], c["storage_gbps"]) for c in told["configs"]],
              [(3, 2), (3, 6)])
    text = lab.run("describe", "workloads", "x", "--catalog", catalog).out.decode()
    tap.ok("in words too", "NIC 3 Gbit/s  storage 2 Gbit/s" in text, text)
    done = lab.run("run", "--trace", lab.path("trace.csv"), "--catalog", catalog, "--cluster",
                   nodes(lab, {**node, "nic_gbps": 5}), "--policy", "volcano")
    tap.ok("volcano knows none: exit 2, and why", done.code == 2 and
           "volcano knows no bandwidth of nodes, which workload x takes" in done.err, done.shown())
    wrong = TAKES.replace('"nic_gbps": 3', '"nic_gbps": -3')
    done = lab.run("describe", "workloads", "--catalog", lab.file("d.json", wrong))
    tap.ok("a wrong one: exit 3, and where", done.code == 3 and
           "d.json: workloads[0] x: nic_gbps must be a number from 0 to 1e+06" in done.err,
           done.shown())
    state = {"cluster": {"nodes": [{**node, "storage_gbps": 8}]}, "running": [
        {"name": name, "gpus": 1, "left_s": 100, "workload": "x", "config": "bs=2",
         "at": [{"node": 0, "cards": [card]}]} for card, name in enumerate("ab")]}
    lab.file("state.json", json.dumps(state))
    done = shell(lab, "colosim decide --catalog c.json --set submitted=default < state.json")
    tap.ok("decide refuses a state that cannot be", done.returncode == 3 and
           "node 0 has less storage bandwidth than those on it take" in done.stderr, done)


def case_decide(lab, tap):
    """decide says in which layout a job is to start, and takes one that runs"""
    lab.file("c.json", json.dumps({"workloads": [
        {"name": "net", "kind": "train", "model": "measured", "card": "a100-40g", "unit": "s",
         "knobs": {"bs": [1], "tp": [1, 2], "pp": [1, 2]},
         "profiles": [{"rate": 1, "sm": 0.5, "fb_mib": 60000}],
         "parallel": {"batch": [16, "A"], "layers": [4, "A"], "grad_bytes": [1e9, "A"],
                      "act_bytes": [1, "A"], "state_bytes": [5e10, "A"], "dp_exposed": [1, "A"],
                      "tp_spans": [0, "A"]}}]}))
    state = {"cluster": {"nodes": [{"gpus": 2, "gpu_type": "a100-40g"}]},
             "waiting": [{"name": "a", "gpus": 2, "left_s": 100, "workload": "net"}]}
    lab.file("state.json", json.dumps(state))
    done = shell(lab, "colosim decide --catalog c.json < state.json")
    start = json.loads(done.stdout)["start"][0] if done.returncode == 0 else done
    tap.equal("two slices: no bubble, and they fit", (start["config"], start["gpu_mem_mib"]),
              ("bs=1 tp=2 pp=1", 30000))
    state["running"] = [{**state.pop("waiting")[0], "config": "bs=1 tp=1 pp=2",
                         "at": [{"node": 0, "cards": [0, 1]}]}]
    lab.file("state.json", json.dumps(state))
    done = shell(lab, "colosim decide --catalog c.json --set elastico.cost.resume_most_s=0 "
                 "--set elastico.cost.resume_least_s=0 < state.json")
    change = json.loads(done.stdout)["config"][0] if done.returncode == 0 else done
    tap.equal("and a running job is told to change", (change["from"], change["config"]),
              ("bs=1 tp=1 pp=2", "bs=1 tp=2 pp=1"))
