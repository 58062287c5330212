"""studies.py - what a study is read from: trace characterize, plot, report, the guard for CI."""
import json
import os
import shlex
import shutil
import subprocess
import xml.etree.ElementTree

from lab import native, number, pai_row


def case_characterize(lab, tap):
    """trace characterize"""
    table = lab.file("pai_task_table.csv", pai_row("a", 0, 1, gpu=50) + pai_row("b", 0, 1, gpu=100))
    done = lab.run("trace", "characterize", "--trace", table)
    lines = done.out.decode().splitlines()
    tap.ok("half of two tasks ask for part of a GPU, beside the paper's 54",
           any(line.split() == ["fractional", "tasks", "54", "50", "%", "2"] for line in lines),
           done.shown())
    tap.ok("utilisation is absent, and says what lacks",
           "absent: the files lack utilisation (pai_sensor_table)" in done.said, done.shown())
    tap.ok("no number stands where it is absent", not any(
        line.startswith("GPU utilisation ") and " 0 " in line for line in lines), done.shown())
    told = json.loads(lab.run("trace", "characterize", table, "--json", "--quiet").out)
    first = told["claims"][0]
    tap.equal("the same as JSON", (first["claim"], first["paper"], first["value"], first["rows"]),
              ("fractional tasks", 54, 50, 2))
    tap.equal("absent is null", {claim["value"] for claim in told["claims"]
                                 if "utilisation" in claim["claim"]}, {None})
    other = lab.file("t.csv", native(("a", 0, 1, 1)))
    for args, code, word in (((), 2, "which trace"), ((other,), 3, "PAI"),
                             ((table, "--format", "swf"), 2, "swf"), ((lab.path("no"),), 3, "no"),
                             ((table, "--format", "genai"), 3, "nothing")):
        done = lab.run("trace", "characterize", *args)
        tap.ok(f"{' '.join(args[1:]) or args}: exit {code}, and why",
               done.code == code and word in done.err and done.out == b"", done.shown())


# Three jobs one after the other on one GPU: JCT 10, 30, 55; waits 0, 10, 25.
QUEUE = native(("a", 0, 10, 1), ("b", 0, 20, 1), ("c", 5, 30, 1))


def blocks_of(path):
    """The data of a figure: [(series, [[number or text]])]"""
    blocks = []
    for line in open(path, encoding="utf-8"):
        if line.startswith("# "):
            blocks.append((line[2:-1], []))
        elif line.strip():
            blocks[-1][1].append([number(field) for field in shlex.split(line)])
    return blocks


def case_points(lab, tap):
    """plot, its points"""
    trace = lab.file("t.csv", QUEUE)
    db = lab.new_database()
    for policy, seed in (("fifo", 1), ("fifo", 2), ("sjf", 1)):
        lab.run("run", "--trace", trace, "--cluster", "1x1:a100-40g", "--policy", policy, "--seed",
                str(seed), "--db", db, "--label", f"{policy}{seed}")

    def points(figure, *args, run="fifo1"):
        """Without gnuplot the data stays."""
        out = lab.path(f"{figure}.svg")
        done = lab.run("plot", "--db", db, "--figure", figure, *(("--run", run) if run else ()),
                       *args, "-o", out, env={"PATH": "/nowhere"})
        return done, blocks_of(out + ".dat") if os.path.exists(out + ".dat") else []

    done, blocks = points("jct-cdf")
    tap.ok("without gnuplot exit 6, and the data is named and kept",
           done.code == 6 and "jct-cdf.svg.dat" in done.err and "gnuplot" in done.err and
           not os.path.exists(lab.path("jct-cdf.svg")) and blocks, done.shown())
    tap.equal("its series is the run", [name for name, _ in blocks], ["fifo1"])
    tap.near("jct-cdf", blocks[0][1], [[10, 1 / 3], [30, 2 / 3], [55, 1]])
    tap.near("slowdown-cdf", points("slowdown-cdf")[1][0][1], [[1, 1 / 3], [1.5, 2 / 3], [55 / 30, 1]])
    tap.near("wait-by-job", points("wait-by-job")[1][0][1], [[1, 0], [2, 10 / 3600], [3, 25 / 3600]])
    tap.near("wait-over-time", points("wait-over-time")[1][0][1],
             [[0, 0], [0, 10 / 3600], [5 / 3600, 25 / 3600]])
    tap.near("gantt", points("gantt")[1][0][1],
             [[0, 10 / 3600, 0, 1], [10 / 3600, 30 / 3600, 0, 1], [30 / 3600, 60 / 3600, 0, 1]])
    queue = points("queue")[1][0][1]
    tap.near("queue: b waits for 10 s, c for 25",
             sum(row[1] for row in queue) / len(queue) * 60, 35, 0.2)
    tap.near("gpu-alloc", {row[1] for row in points("gpu-alloc")[1][0][1]} == {100}, True)
    done, blocks = points("sm-util")
    tap.ok("no profiles, no SM utilisation: exit 3, and nothing kept",
           done.code == 3 and "sm-util" in done.err and blocks == [], done.shown())
    done, blocks = points("jct-cdf", run="sjf1,fifo1")
    tap.equal("runs in the order asked for", [name for name, _ in blocks], ["sjf1", "fifo1"])
    done, blocks = points("load", "--metric", "jct_p50_s", run=None)
    tap.equal("load: a series a policy, seeds together", [name for name, _ in blocks],
              ["fifo", "sjf"])
    load = 60 / 5  # GPU-seconds asked over one GPU x the span of submissions
    tap.near("its median, least and most", blocks[0][1], [[load, 30, 30, 30]])
    tap.near("scale", points("scale", run=None)[1][0][1], [[1, 95 / 3, 95 / 3, 95 / 3]])
    blocks = points("pareto", "--metric", "wait_mean_s,makespan_s", run=None)[1]
    tap.equal("pareto: equals do not dominate each other", [name for name, _ in blocks],
              ["fifo", "sjf", "not dominated"])
    tap.equal("both are there", len(blocks[2][1]), 2)


def case_pairs(lab, tap):
    """plot, of pairs"""
    pairs = lab.file("p.csv", "model_a,model_b,speed_a,speed_b\nx,x,0.5,0.5\nx,y,0.6,0.8\n")
    for figure, want in (("interference-heatmap", [[0, 0, .5], [0, 1, .7], [1, 0, .7]]),
                         ("interference-cdf", [[.5, .5], [.7, 1]])):
        out = lab.path(f"{figure}.png")
        done = lab.run("plot", "--figure", figure, "--pairs", pairs, "-o", out,
                       env={"PATH": "/nowhere"})
        blocks = blocks_of(out + ".dat")
        tap.ok(f"{figure}: exit 6", done.code == 6, done.shown())
        tap.near(figure, blocks[0][1], want)
    tap.equal("the names on its axes", [row[2] for row in blocks_of(
        lab.path("interference-heatmap.png.dat"))[1][1]], ["x", "y"])
    out = lab.path("model.svg")
    lab.run("plot", "--figure", "interference-heatmap", "-o", out, env={"PATH": "/nowhere"})
    cells = {(x, y): keep for x, y, keep in blocks_of(out + ".dat")[0][1]}
    tap.ok("the model's map is symmetric, each part between 0 and 1",
           cells and all(cells[y, x] == keep and 0 < keep <= 1 for (x, y), keep in cells.items()))


def case_drawn(lab, tap):
    """plot, drawn"""
    if shutil.which("gnuplot") is None:
        tap.skip("figures are drawn", "no gnuplot")
        return
    db = lab.new_database()
    for policy in ("fifo", "sjf"):
        lab.run("run", "--policy", policy, "--truth", "contention", "--db", db, "--label",
                f"it's {policy}")
    listed = lab.run("plot", "--help").out.decode().split("Figures:\n")[1].split("\n\n")[0]
    figures = [line.split()[0] for line in listed.splitlines()]
    tap.ok("the figures of the contract are listed", {
        "jct-cdf", "wait-by-job", "wait-over-time", "sm-util", "interference-heatmap",
        "interference-cdf", "gantt", "load", "scale", "pareto"} <= set(figures), listed)
    for figure in figures:
        out = lab.path(f"{figure}.svg")
        run = ("--run", "it's sjf") if figure == "gantt" else ()
        done = lab.run("plot", "--db", db, "--figure", figure, *run, "-o", out)
        tap.ok(f"{figure}: exit 0, nothing said", done.code == 0 and not done.said, done.shown())
        text = xml.etree.ElementTree.parse(out).getroot().itertext()
        shown = " ".join(" ".join(text).split())
        tap.ok(f"{figure}: an SVG that names its series or axes",
               any(word in shown for word in ("it's fifo", "fifo", "ResNet", "contention", "infer")),
               shown[:300])
    for end, magic in (("png", b"\x89PNG"), ("pdf", b"%PDF")):
        out = lab.path(f"f.{end}")
        lab.run("plot", "--db", db, "--figure", "jct-cdf", "--title", "it's \"x\"", "-o", out)
        tap.ok(f"a {end}", open(out, "rb").read(4) == magic)
    tap.equal("and nothing beside them", [name for name in os.listdir(lab.folder)
                                          if name.endswith((".dat", ".gp", ".part"))], [])
    lab.run("plot", "--db", db, "--figure", "jct-cdf", "--keep", "-o", lab.path("k.svg"))
    again = subprocess.run(["gnuplot", "k.svg.gp"], cwd=lab.folder, capture_output=True, check=False)
    tap.ok("a kept script draws it again", again.returncode == 0 and not again.stderr, again)
    done = lab.run("plot", "--db", db, "--figure", "jct-cdf", "-o", "/nowhere/x.svg")
    tap.ok("no such folder: exit 4", done.code == 4 and "/nowhere" in done.err, done.shown())


def case_plot_usage(lab, tap):
    """plot, wrong usage"""
    db = lab.new_database()
    lab.run("run", "--trace", lab.file("t.csv", QUEUE), "--policy", "fifo", "--db", db)
    lab.run("run", "--trace", lab.path("t.csv"), "--policy", "sjf", "--db", db)
    base = ("plot", "--db", db, "-o", lab.path("x.svg"))
    for args, word in (
            ((*base,), "which figure"), ((*base, "--figure", "jct-cfd"), "jct-cdf"),
            (("plot", "--db", db, "--figure", "queue"), "where to"),
            (("plot", "--db", db, "--figure", "queue", "-o", "x.gif"), "where to"),
            (("plot", "--figure", "queue", "-o", "x.svg"), "which database"),
            ((*base, "--figure", "queue", "--run", "none"), "no run"),
            ((*base, "--figure", "gantt"), "--run"),
            ((*base, "--figure", "queue", "--metric", "jct_mean_s"), "no metric"),
            ((*base, "--figure", "pareto", "--metric", "jct_mean_s"), "two"),
            ((*base, "--figure", "interference-cdf", "--contention", "x"), "h200"),
            ((*base, "--figure", "interference-cdf", "--card", "x"), "card")):
        done = lab.run(*args)
        tap.ok(f"{' '.join(args[-2:])}: exit 2, and why", done.code == 2 and word in done.err,
               done.shown())
    tap.ok("nothing was written", not [name for name in os.listdir(lab.folder) if "svg" in name])
