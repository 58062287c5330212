"""reproduce.py - cases about the paper's tables: each number again from a made-up trace and single
runs, the same at any number of threads, and what the command refuses."""
import json
import math
import statistics

CLUSTER = {64: "8x8:a100-40g", 128: "16x8:a100-40g", 256: "32x8:a100-40g"}
T_975 = 12.7062  # of Student's t with one degree of freedom: two seeds
VOLCANO = ("volcano", "volcano.profile=helm-gpubinpack", "volcano.queues=one")
SYSTEMS = {
    "volcano": VOLCANO,
    "volcano as compiled": ("volcano", "volcano.profile=compiled", "volcano.queues=one"),
    "lucid": ("lucid", "lucid.estimate=oracle", "lucid.sharing=on"),
    "elastico": ("elastico",),
    "without rst": ("elastico", "elastico.without=rst"),
    "without esp": ("elastico", "elastico.without=esp"),
    "without iac": ("elastico", "elastico.without=iac"),
    "without pds": ("elastico", "elastico.without=pds"),
}
TINY = ("--hours", "1", "--seeds", "1,2", "--quiet")
# Sections 5.2, 5.3 and 5.6 of arXiv 2608.07971.
PAPER = {
    "table4": {("lucid", "mean JCT"): .46, ("lucid", "throughput"): 1.76,
               ("elastico", "mean JCT"): .34, ("elastico", "throughput"): 2.02,
               ("volcano", "SM utilisation %"): 25, ("lucid", "SM utilisation %"): 38,
               ("elastico", "SM utilisation %"): 46, ("elastico", "attainment %"): 98.3},
    "table5": {("without rst", "mean JCT"): 1.53, ("without esp", "throughput"): .82,
               ("without iac", "GPU memory %"): 80.8, ("without pds", "SM utilisation %"): 40.6},
    "load": {("elastico, 50 %", "JCT improvement"): 1.8, ("elastico, 150 %", "JCT improvement"): 2.9},
    "table8": {("256 GPUs", "mean JCT"): .38, ("128 GPUs", "pass ms"): 6.8},
    "table9": {("elastico", "prices (ESP) ms"): 2.1, ("elastico", "pairs (IAC) ms"): 1.2},
}
TIMES = ("pass ms", "prices (ESP) ms", "pairs (IAC) ms", "packing and the rest ms",
         "whole pass ms")


def numbers(lab, *words):
    done = lab.run("reproduce", *words, *TINY, "--json")
    return done.code, [json.loads(line) for line in done.out.splitlines()]


def days(lab, load, gpus, hours="1"):
    """The generator's traces of both seeds."""
    paths = []
    for seed in ("1", "2"):
        path = lab.path(f"{load}-{gpus}-{seed}.csv")
        lab.run("trace", "synth", "--cluster", CLUSTER[gpus], "--seed", seed, "--set",
                f"load={load}", "--set", f"hours={hours}", "-o", path)
        paths.append((seed, path))
    return paths


def single(lab, path, seed, system, row):
    words = [word for pair in SYSTEMS[system][1:] for word in ("--set", pair)]
    done = lab.run("run", "--trace", path, "--cluster", CLUSTER[row.get("gpus", 64)], "--seed", seed,
                   "--policy", SYSTEMS[system][0], "--set", f"contention.set={row['physics']}",
                   "--set", f"submitted={row['submitted']}", "--json", "--quiet", *words)
    return json.loads(done.out)["metrics"]


def expected(lab, paths, row, system, base):
    """Median, least and most of one number from single runs."""
    values = []
    for seed, path in paths:
        own, other = (single(lab, path, seed, s, row) for s in (system, base))
        column = row["column"]
        values.append({
            "mean JCT": lambda o, b: o["jct_mean_s"] / b["jct_mean_s"],
            "JCT improvement": lambda o, b: b["jct_mean_s"] / o["jct_mean_s"],
            "throughput": lambda o, b: o["throughput_gpus"] / b["throughput_gpus"],
            "SM utilisation %": lambda o, _: 100 * o["sm_util_mean"],
            "GPU memory %": lambda o, _: 100 * o["mem_util_mean"],
            "attainment %": lambda o, _: 100 * o["attain_frac"],
            "reconfigurations/GPU-h": lambda o, _:
                o["reconfigs"] * 3600 / o["makespan_s"] / row["gpus"],
        }[column](own, other))
    return statistics.median(values), min(values), max(values)


def near(a, b):
    return abs(a - b) <= 1e-9 * max(1, abs(b))


def check(lab, tap, rows, system_of, base):
    for row in rows:
        paths = days(lab, row["load"], row["gpus"])
        want = expected(lab, paths, row, system_of(row), base)
        got = (row["median"], row["low"], row["high"])
        tap.ok(f"{row['row']}, {row['column']}: as single runs give",
               all(map(near, got, want)), (row, want))
        if row["paper"] is not None:
            tap.ok(f"{row['row']}, {row['column']}: ours / paper - 1",
                   near(row["deviation"], row["median"] / row["paper"] - 1), row)


def case_table4(lab, tap):
    """table4 is what single runs on the generator's days give, in six worlds"""
    code, found = numbers(lab, "table4")
    tap.equal("exit code", code, 0)
    worlds = [(p, s) for s in ("peak", "default") for p in ("h200", "queue_prior", "frank_l2")]
    tap.equal("three physics, submitted peak and default",
              list(dict.fromkeys((n["physics"], n["submitted"]) for n in found)), worlds)
    last = [n for n in found if (n["physics"], n["submitted"]) == ("frank_l2", "default")]
    check(lab, tap, last, lambda row: row["row"], "volcano")


def case_ablations(lab, tap):
    """table5 sets elastico.without, over the whole"""
    _, found = numbers(lab, "table5")
    first = [n for n in found if (n["physics"], n["submitted"]) == ("h200", "peak")]
    check(lab, tap, first, lambda row: row["row"], "elastico")


def case_load(lab, tap):
    """load varies the offered load on 128 GPUs"""
    _, found = numbers(lab, "load")
    first = [n for n in found if (n["physics"], n["submitted"]) == ("h200", "peak")]
    tap.equal("50, 100 and 150 % of 1.2", [round(n["load"], 6) for n in first], [.6, 1.2, 1.8] * 2)
    tap.ok("on 128 GPUs", all(n["gpus"] == 128 for n in found), first)
    check(lab, tap, first, lambda row: row["row"].split(",")[0], "volcano")


def case_paper(lab, tap):
    """the paper's numbers stand beside ours"""
    _, found = numbers(lab, *PAPER)
    for table, cells in PAPER.items():
        mine = {(n["row"], n["column"]): n for n in found if n["table"] == table}
        for cell, value in cells.items():
            tap.equal(f"{table} {cell}", mine[cell]["paper"], value)
    pieces = {n["column"]: n["median"] for n in found
              if n["table"] == "table9" and (n["physics"], n["submitted"]) == ("h200", "peak")}
    tap.ok("no part of a pass takes longer than the whole", all(
        0 <= pieces[name] <= pieces["whole pass ms"] for name in TIMES[1:4]), pieces)


def case_threads(lab, tap):
    """the same at one thread and three, timing apart"""
    found = [[n for n in numbers(lab, "table4", "instances", "-j", j)[1]] for j in ("1", "3")]
    tap.ok("there are numbers", len(found[0]) > 50, len(found[0]))
    tap.equal("equal", found[0], found[1])


def case_instances(lab, tap):
    """instances: saved is 1 - GPUs over those of a pool apart"""
    _, found = numbers(lab, "instances", "--seeds", "1")
    for row in found:
        apart = next(n for n in found if n["row"] == "a pool apart" and all(
            n[k] == row[k] for k in ("physics", "submitted")))
        if row["gpus"] is None:
            tap.equal(f"{row['row']}: not known", row["median"], None)
        else:
            tap.ok(f"{row['row']}: saved", near(row["median"], 1 - row["gpus"] / apart["gpus"]), row)


STATEMENTS = {  # of, column, words: metric, what is above, what is below
    ("table4", "mean JCT", "volcano > lucid"): ("jct_mean_s", "volcano", "lucid"),
    ("table4", "throughput", "elastico > lucid"): ("throughput_gpus", "elastico", "lucid"),
    ("table5", "mean JCT", "without rst > without esp"):
        ("jct_mean_s", "without rst", "without esp"),
    ("table5", "SM utilisation %", "without iac > without pds"):
        ("sm_util_mean", "without iac", "without pds"),
    ("table8", "mean JCT", "1 > 64 GPUs"): ("jct_mean_s", "volcano", "elastico"),
}


def judged(factors):
    """Factor, interval and verdict of two seeds, by the t interval of two values' mean."""
    logs = [math.log(f) for f in factors]
    middle, half = statistics.mean(logs), T_975 * abs(logs[0] - logs[1]) / 2
    verdict = "held" if middle > half else "contrary" if middle < -half else "open"
    return math.exp(middle), math.exp(middle - half), math.exp(middle + half), verdict


def case_order(lab, tap):
    """order: each statement's factor, interval and verdict from single runs, at another load"""
    done = lab.run("reproduce", "order", "--quick", *TINY, "--load", "3", "--json")
    tap.equal("exit code", done.code, 0)
    found = [json.loads(line) for line in done.out.splitlines()]
    world = {"physics": "h200", "submitted": "default"}
    mine = {(n["of"], n["column"], n["row"]): n for n in found
            if (n["physics"], n["submitted"]) == ("h200", "default")}
    tap.equal("statements: tables 4, 5, 8 and 5.6", [sum(k[0] == t for k in mine) for t in (
        "table4", "table5", "load", "table8")], [6, 28, 4, 9])
    paths = days(lab, 3, 64)

    def compare(name, want):
        got = mine[name]
        same = all(abs(a - b) <= 1e-4 * abs(b) for a, b in zip(
            (got["factor"], got["low"], got["high"]), want))
        tap.ok(f"{name}: as single runs give", same and got["verdict"] == want[3], (got, want))

    for name, (metric, above, below) in STATEMENTS.items():
        compare(name, judged([single(lab, path, seed, above, world)[metric] /
                              single(lab, path, seed, below, world)[metric]
                              for seed, path in paths]))
    loads = [[single(lab, path, seed, system, world | {"gpus": 128})["jct_mean_s"]
              for seed, path in days(lab, load, 128) for system in ("volcano", "elastico")]
             for load in (3, 4.5)]
    gain = [(run[0] / run[1], run[2] / run[3]) for run in loads]
    compare(("load", "JCT improvement", "elastico, 150 % > elastico, 100 %"),
            judged([gain[1][k] / gain[0][k] for k in (0, 1)]))
    ratios = []
    for gpus in (64, 128, 256):
        ratios.append([single(lab, path, seed, "elastico", world | {"gpus": gpus})["jct_mean_s"] /
                       single(lab, path, seed, "volcano", world | {"gpus": gpus})["jct_mean_s"]
                       for seed, path in days(lab, 3, gpus)])
    # A straight line through values at -1, 0 and 1 has half the difference of the ends as its slope.
    compare(("table8", "mean JCT", "rises with size"),
            judged([math.sqrt(ratios[2][k] / ratios[0][k]) for k in (0, 1)]))


def case_settings(lab, tap):
    """--set changes all runs, but not what a row's name says; --world shows one alone"""
    _, found = numbers(lab, "table4", "--load", "3", "--set", "volcano.profile=compiled")
    first = {(n["row"], n["column"]): n["median"] for n in found
             if (n["physics"], n["submitted"]) == ("h200", "peak")}
    tap.equal("volcano is as compiled", first["volcano as compiled", "mean JCT"], 1)
    _, other = numbers(lab, "table4", "--load", "3")
    cell = next(n for n in other if n["row"] == "volcano as compiled" and n["column"] == "mean JCT")
    tap.ok("and was not", abs(cell["median"] - 1) > .01, cell)
    tap.equal("its load is said", cell["load"], 3)
    _, kept = numbers(lab, "table4", "--load", "3", "--set", "policy=fifo", "--set",
                      "submitted=listed")
    tap.equal("policy and world are the table's own", kept, other)
    _, one = numbers(lab, "table4", "--load", "3", "--world", "frank_l2,default")
    tap.equal("one world alone", one, [n for n in other if (n["physics"], n["submitted"]) == (
        "frank_l2", "default")])
    tap.equal("no such world", lab.run("reproduce", "table4", "--world", "frank_l2").code, 2)
    tap.equal("no such setting", lab.run("reproduce", "table4", *TINY, "--set", "wich=1").code, 2)


def case_words(lab, tap):
    """a table that is none, none at all, and what is printed for people"""
    tap.equal("misspelt", lab.run("reproduce", "tabel4").code, 2)
    tap.ok("the nearest is named", "did you mean 'table4'" in lab.run("reproduce", "tabel4").err,
           lab.run("reproduce", "tabel4").err)
    tap.equal("no table", lab.run("reproduce").code, 2)
    tap.equal("seeds", lab.run("reproduce", "table4", "--seeds", "x").code, 2)
    tap.equal("hours", lab.run("reproduce", "table4", "--hours", "0").code, 2)
    done = lab.run("reproduce", "table7", "figures", "table9", *TINY)
    for text in ("colosim calib score", "colosim plot", "Table 9", "volcano.profile=helm-gpubinpack"):
        tap.ok(f"says {text}", text in done.out.decode(), done.shown())
