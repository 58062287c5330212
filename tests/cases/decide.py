"""decide.py - one decision about a live cluster: what is said, and what is refused."""
import json
import pathlib
import re

from lines import shell
from readme import as_shown, examples

DOC = pathlib.Path(__file__).parents[2] / "docs" / "decide.md"
CLUSTER = "2x2:a100-40g"  # 40960 MiB each


def job(name, gpus=1, left_s=100, **more):
    return {"name": name, "gpus": gpus, "left_s": left_s, **more}


def seat(node, *cards):
    return [{"node": node, "cards": list(cards)}]


def decide(lab, state, *options):
    lab.file("state.json", state if isinstance(state, str) else json.dumps(state))
    return shell(lab, " ".join(["colosim decide", *options, "< state.json"]))


def plan_of(lab, state, *options):
    done = decide(lab, state, *options)
    return json.loads(done.stdout) if done.returncode == 0 else {"said": done.stderr}


def cards(entry, key="at"):
    """{node: cards}"""
    return {at["node"]: at["cards"] for at in entry[key]}


def case_example(lab, tap):
    """the example of docs/decide.md"""
    before, state, after = re.split(r"^```(?:json)?\n", DOC.read_text(), 2, re.MULTILINE)
    lab.file("state.json", state)
    shown = examples(before + after)
    tap.equal("there is one", len(shown), 1)
    for command, output in shown:
        done = shell(lab, command)
        tap.ok(command, as_shown(done.stdout, output),
               f"shown\n{output}\nnow\n{done.stdout}\n{done.stderr}")


def case_starts(lab, tap):
    """first come, first served on what is free, by hand"""
    state = {"cluster": CLUSTER, "now_s": 50, "running": [job("a", at=seat(0, 1))],
             "waiting": [job("b", 2, kind="train", gpu_mem_mib=24576),
                         job("c", .5, kind="infer", gpu_mem_mib=10240), job("d", 2)]}
    plan = plan_of(lab, state, "--policy", "fifo", "--truth", "none")
    started = {entry["name"]: entry for entry in plan["start"]}
    tap.equal("b and c start, d does not fit", sorted(started), ["b", "c"])
    tap.equal("b on the free node", cards(started["b"]), {1: [0, 1]})
    tap.equal("c on the free card", cards(started["c"]), {0: [0]})
    tap.equal("PyTorch's fraction: 24576 / 40960",
              started["b"].get("set_per_process_memory_fraction"), 0.6)
    tap.equal("vLLM's: 10240 / 40960", started["c"].get("gpu_memory_utilization"), 0.25)
    tap.equal("and not the other's", [set(started["b"]) & {"gpu_memory_utilization"},
                                      set(started["c"]) & {"set_per_process_memory_fraction"}],
              [set(), set()])
    limits = [started[name]["at"][0]["CUDA_MPS_PINNED_DEVICE_MEM_LIMIT"] for name in "bc"]
    tap.equal("limits under MPS", limits, ["0=24576M,1=24576M", "0=10240M"])
    tap.ok("max_split_size_mb is no cap", "max_split_size_mb is no cap" in plan["notes"][0], plan)
    again = {**state, "running": [*state["running"],
                                  *({**j, "at": started[j["name"]]["at"]}
                                    for j in state["waiting"] if j["name"] in started)],
             "waiting": state["waiting"][2:]}
    plan = plan_of(lab, again, "--policy", "fifo", "--truth", "none")
    tap.equal("once it is carried out there is nothing to do", [plan["start"], plan["evict"]],
              [[], []])


def case_without_gpus(lab, tap):
    """jobs without GPUs, and jobs of several instances"""
    state = {"cluster": CLUSTER, "running": [job("a", 0, at=[{"node": 1}]),
                                             job("b", 2, instances=2, at=seat(0, 0) + seat(1, 1))],
             "waiting": [job("c", 2), job("d", 0), job("e", 2, instances=2)]}
    plan = plan_of(lab, state, "--policy", "fifo-skip", "--truth", "none")
    tap.equal("d and e start, on the cards that are free",
              {entry["name"]: [at.get("cards") for at in entry["at"]] for entry in plan["start"]},
              {"d": [None], "e": [[1], [0]]})


def case_evicts(lab, tap):
    """shortest remaining first sends back the one with most left"""
    state = {"cluster": "1x2", "running": [job("a", left_s=500, at=seat(0, 0)),
                                           job("b", left_s=900, at=seat(0, 1))],
             "waiting": [job("c", left_s=10)]}
    plan = plan_of(lab, state, "--policy", "srtf", "--truth", "none", "--set",
                   "preempt.restart_s=7")
    tap.equal("b", plan["evict"], [{"name": "b", "restart_s": 7}])
    tap.equal("c takes its card", [cards(entry) for entry in plan["start"]], [{0: [1]}])


def case_grows(lab, tap):
    """nobody waits: an elastic job takes the free cards, its pause counted"""
    plan = plan_of(lab, {"cluster": "1x4:a100-40g", "now_s": 1000, "running": [
        job("a", 2, 36000, workload="BERT", gpu_min=1, gpu_max=4, at=seat(0, 2, 3))]})
    resized = plan["resize"]
    tap.equal("one is resized", [entry["name"] for entry in resized], ["a"])
    tap.equal("from its cards", cards(resized[0], "from"), {0: [2, 3]})
    tap.equal("to all, its own first", cards(resized[0]), {0: [2, 3, 0, 1]})
    # §5.7: 15 to 45 s, linear in log10 of the parameters from 1e6 to 1e10; BERT-large has 3.35e8
    tap.ok("a checkpoint and a resume", 33 < resized[0]["pause_s"] < 35, resized)
    tap.equal("asked again an epoch later", plan["wake_s"], 1005)


GOOD = """{"cluster": "2x2:a100-40g",
 "running": [
  {"name": "a", "gpus": 1, "left_s": 5,
   "at": [{"node": 0, "cards": [0]}]},
  {"name": "b", "gpus": 2, "left_s": 5, "workload": "BERT",
   "at": [{"node": 1, "cards": [0, 1]}]}],
 "waiting": [
  {"name": "c", "gpus": 1,
   "left_s": 7}]}
"""


def case_refused(lab, tap):
    """a wrong state: exit 3, the line, what was expected, no plan"""
    tap.equal("this one is good", decide(lab, GOOD).returncode, 0)
    for old, new, line, said in (
            ('"2x2:a100-40g"', '"2y2"', 1, "cluster"),
            ('"cluster": "2x2:a100-40g",', '"klaster": 1,', 1, "unknown key 'klaster'"),
            ('"running": [', '"running": 3, "x": [', 2, "unknown key 'x'"),
            ('"left_s": 5,\n', '"left_s": -5,\n', 3, "left_s"),
            ('"left_s": 5,\n', '"left": 5,\n', 3, "left_s"),
            ('"left_s": 7', '"left_s": "7"', 9, "left_s"),
            ('"c", "gpus": 1', '"a", "gpus": 1', 8, "twice"),
            ('"c", "gpus": 1', '"c", "config": "bs=1", "gpus": 1', 8, "running jobs"),
            ('{"name": "c", "gpus": 1,', '{"gpus": 1,', 8, '"name"'),
            ('"node": 0', '"node": 2', 4, "0 to 1"),
            ('"node": 0', '"name": "x"', 4, "node of the cluster"),
            ('"cards": [0]', '"cards": [2]', 4, "0 to 1"),
            ('"cards": [0]', '"cards": [0, 0]', 4, "twice"),
            ('"cards": [0]', '"cards": [0, 1]', 3, "want 1"),
            ('"cards": [0, 1]', '"cards": [0]', 5, "want 2"),
            ('[{"node": 1, "cards": [0, 1]}]',
             '[{"node": 1, "cards": [0]}, {"node": 0, "cards": [1]}]', 5, "one node"),
            ('"workload": "BERT"', '"gpu_mem_mib": 50000', 5, "40960 MiB"),
            ('"workload": "BERT"', '"workload": "BERT", "config": "bs=7"', 5, "config"),
            ('"workload": "BERT"', '"config": "bs=7"', 5, "not in the catalog"),
            ('"workload": "BERT"', '"gpu_min": 3', 5, "gpu_max"),
            ('"c", "gpus": 1', '"c", "gpus": 1.5', 8, "whole"),
            ('"running": [', '"now_s": 1e300, "running": [', 2, "now_s"),
            ('"running": [', '"prices": [-1], "running": [', 2, "prices"),
            ('"left_s": 7}', '"left_s": 7', 9, "JSON"),
            ('"left_s": 7}', '"left_s": 7, "gpus": 2}', 9, "duplicate")):
        wrong = decide(lab, GOOD.replace(old, new, 1))
        tap.ok(f"{new.strip()}: line {line}, {said}",
               wrong.returncode == 3 and wrong.stdout == "" and said in wrong.stderr
               and re.search(rf"^colosim: stdin:{line}\b", wrong.stderr, re.MULTILINE),
               f"{wrong.returncode} {wrong.stderr}{wrong.stdout}")
    wrong = decide(lab, "")
    tap.ok("nothing: exit 3", wrong.returncode == 3 and "stdin" in wrong.stderr, wrong.stderr)


def case_usage(lab, tap):
    """what decide cannot do: exit 2"""
    for options, said in ((["--policy", "gavel"], "these can: easy-backfill, elastico"),
                          (["--policy", "no-such"], "no-such"), (["--trace", "t.csv"], "--trace"),
                          (["--cluster", "1x1"], "--cluster"), (["extra"], "stdin")):
        wrong = decide(lab, GOOD, *options)
        tap.ok(" ".join(options), wrong.returncode == 2 and said in wrong.stderr and
               wrong.stdout == "", wrong.stderr)


ONE_CARD = {"cluster": "1x1:a100-40g",
            "running": [job("bert", kind="train", workload="BERT", left_s=5400, at=seat(0, 0),
                            config="bs=64 ck=0 amp=1")],
            "waiting": [job("ppo", kind="train", workload="PPO", left_s=1800)]}
PPO, BERT = ({"workload": "PPO", "config": "bs=4096 ck=0 amp=0"},
             {"workload": "BERT", "config": "bs=128 ck=0 amp=1"})


def case_profiled(lab, tap):
    """what the state says is profiled is all that is known; what is not is to be"""
    known = plan_of(lab, ONE_CARD)
    tap.equal("everything is known: they share", [e["name"] for e in known["start"]], ["ppo"])
    tap.ok("and nothing is to be profiled", "profile" not in known, known)
    plan = plan_of(lab, {**ONE_CARD, "profiled": []})
    tap.equal("nothing is: nobody shares", plan["start"], [])
    tap.equal("first what they came in, the newcomer first", plan["profile"][:2], [PPO, BERT])
    tap.equal("no more than 16 are listed", len(plan["profile"]), 16)
    tap.equal("and the first takes four minutes", plan["wake_s"], 240)
    plan = plan_of(lab, {**ONE_CARD, "profiled": [PPO, BERT]})
    tap.ok("then the others of their families", PPO not in plan["profile"] and
           BERT not in plan["profile"] and len(plan["profile"]) == 16, plan)
    told = [{"workload": name, "config": " ".join(f"{knob}={row[knob]}"
                                                   for knob in ("bs", "ck", "amp"))}
            for name in ("PPO", "BERT") for row in
            json.loads(lab.run("describe", "workloads", name, "--json").out)["configs"]]
    plan = plan_of(lab, {**ONE_CARD, "profiled": told})
    tap.equal("all of them are: as where everything is", plan.pop("profile"), [])
    tap.equal("the same plan", plan, known)


def case_profiled_refused(lab, tap):
    """pairs that are none: exit 3, the line, what was expected"""
    for pairs, line, said in (('3', 1, "list of pairs"), ('[\n3]', 2, "profiled[0]"),
                              ('[{"workload": "PPO"}]', 1, "profiled[0]"),
                              ('[{"workload": "PPO",\n"config": 3}]', 1, "profiled[0]"),
                              ('[\n{"workload": "P", "config": ""}]', 2, "column workload: 'P'"),
                              ('[\n{"workload": "PPO", "config": "bs=5"}]', 2,
                               "column config: 'bs=5'")):
        wrong = decide(lab, json.dumps(ONE_CARD).replace("{", f'{{"profiled": {pairs}, ', 1))
        tap.ok(f"{pairs!r}: {said}", wrong.returncode == 3 and wrong.stdout == "" and
               f"stdin:{line}: " in wrong.stderr and said in wrong.stderr, wrong.stderr)
    lab.file("p.csv", "workload,config\n")
    wrong = decide(lab, {**ONE_CARD, "profiled": []}, "--set", "elastico.profiling.known=store",
                   "--set", "elastico.profiling.store=p.csv")
    tap.ok("in the state and in a file: exit 2", wrong.returncode == 2 and "p.csv" in wrong.stderr,
           wrong.stderr)


def case_aging(lab, tap):
    """a free card is kept for who has waited for too long, by hand"""
    state = {"cluster": "1x2:a100-40g", "running": [job("a", at=seat(0, 0))],
             "waiting": [job("wide", 2, submit_s=-1000), job("narrow", left_s=10, submit_s=-5)]}
    plans = {aging: plan_of(lab, state, "--set", f"elastico.aging_s={aging}")
             for aging in (0, 1000, 1001)}
    tap.equal("who starts", {aging: [e["name"] for e in plan["start"]]
                             for aging, plan in plans.items()},
              {0: ["narrow"], 1000: [], 1001: ["narrow"]})


def newcomers(gpu_s, more=()):
    """BERT ends in 1000 s beside a job that ends much later; LSTM waits."""
    state = {"cluster": "1x2:a100-40g", "now_s": 10000,
             "running": [job("host", left_s=1000, kind="train", workload="BERT", at=seat(0, 0)),
                         job("long", left_s=90000, kind="train", at=seat(0, 1))],
             "waiting": [job("guest", left_s=1000, kind="train", workload="LSTM", submit_s=9999)],
             **dict(more)}
    if gpu_s:
        state["arrivals"] = {"from_s": 0, "until_s": 9000, "gpu_s": gpu_s}
    return state


def case_newcomers(lab, tap):
    """who would have a card soon but for those who come first does not wait for it"""
    short = [0] * 20 + [16000]  # jobs of 8 to 9.5 GPU-seconds: .8 of 2 cards in 10,000 s
    option = ("--policy", "elastico", "--belief", "oracle")
    tap.equal("nobody comes: the card is worth waiting for",
              plan_of(lab, newcomers([]), *option)["start"], [])
    plan = plan_of(lab, newcomers(short), *option)
    tap.equal("in 1000 s, that is 5000 with newcomers: it shares",
              [(s["name"], cards(s)) for s in plan["start"]], [("guest", {0: [0]})])
    longer = [0] * 50 + [16000]  # 1448 GPU-seconds and more: behind it
    tap.equal("newcomers with more to do do not come first",
              plan_of(lab, newcomers(longer), *option)["start"], [])
    arrivals = plan["arrivals"]
    tap.equal("handed on, its own 1000 in its class", arrivals,
              {"from_s": 0, "until_s": 10000, "gpu_s": short + [0] * 26 + [1000]})
    for change, word in (({"arrivals": 3}, '"arrivals": those of a plan'),
                         ({"arrivals": {"from_s": 5, "until_s": 4, "gpu_s": []}}, "those of a plan"),
                         ({"arrivals": {"from_s": 0, "until_s": 4, "gpu_s": [-1]}}, "of a plan"),
                         ({"arrivals": {**arrivals, "gpu_s": [0] * 129}}, "of a plan"),
                         ({"arrivals": arrivals, "waiting": [job("guest")]}, '"submit_s"')):
        done = decide(lab, newcomers([], change.items()), *option)
        tap.equal(f"{word}: refused", done.returncode, 3)
        tap.ok(f"{word}: said", word in done.stderr, done.stderr)
