"""studies.py - what a study is read from: trace characterize, plot, report, the guard for CI."""
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import time
import xml.etree.ElementTree

import browser
from lab import native, number, pai_row
from readme import as_shown, examples

try:
    import yaml
except ImportError:  # not part of the standard library
    yaml = None


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
    shared = lab.file("h.csv", native(("a", 0, 10, 0.5), ("b", 5, 10, 0.5), ("c", 12, 10, 0.5)))
    lab.run("run", "--trace", shared, "--cluster", "1x2:a100-40g", "--policy", "fifo", "--db", db,
            "--label", "halves")
    tap.near("gantt: halves of one card beside each other, the first lane taken again",
             [row[2:] for row in points("gantt", run="halves")[1][0][1]],
             [[0, 0.5], [0, 0.5], [0.5, 1]])


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
    spent, gpus, mean = lab.query(db, "SELECT sum(sm_busy * (min(start_us + sample_us, end_us)"
                                      " - start_us)) / (end_us - min(start_us)), 64, (SELECT value"
                                      " FROM metric WHERE run = 1 AND name = 'sm_util_mean')"
                                      " FROM sample JOIN run ON run.id = run WHERE run = 1")[0]
    tap.near("the SM activity over time adds up to its mean", spent / gpus, mean, 1e-6)
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
    for name in ("<touch trap; .svg", "|touch trap; .svg", "-x.svg"):
        lab.run("plot", "--db", db, "--figure", "jct-cdf", f"-o{name}")
        tap.ok(f"{name} is a name, no command and no option", os.path.exists(lab.path(name)) and
               not os.path.exists(lab.path("trap")), os.listdir(lab.folder))
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


def data_of(path):
    """The page's data, and the page without it."""
    text = open(path, encoding="utf-8").read()
    head, rest = text.split('<script type="application/json" id="data">')
    data, tail = rest.split("</script>", 1)
    return json.loads(data), head + tail


def case_report(lab, tap):
    """report"""
    nasty = '</script><b x="1">&'
    trace = lab.file("t.csv", native(("a", 0, 10, 1), ('"' + nasty.replace('"', '""') + '"', 0, 20, 1),
                                     ("c", 5, 30, 0.5)))
    db = lab.new_database()
    for policy in ("fifo", "sjf"):
        lab.run("run", "--trace", trace, "--cluster", "1x1:a100-40g", "--policy", policy, "--db", db,
                "--label", policy)
    out = lab.path("r.html")
    done = lab.run("report", "--db", db, "-o", out)
    tap.ok("exit 0, nothing said", done.code == 0 and not done.said, done.shown())
    data, page = data_of(out)
    tap.ok("nothing from outside", not re.search(r"""(src|href)=["'](?!#|data:)|url\(|@import""", page))
    fifo = data["runs"][0]
    tap.equal("the jobs of a run", fifo["jobs"]["name"], ["a", nasty, "c"])
    tap.equal("their waits and times", (fifo["jobs"]["wait_s"], fifo["jobs"]["jct_s"]),
              ([0, 10, 25], [10, 30, 55]))
    tap.equal("a column without values is none", fifo["jobs"]["user"], None)
    tap.equal("the bars", (fifo["spans"]["start_s"], fifo["spans"]["end_s"]),
              ([0, 10, 30], [10, 30, 60]))
    tap.equal("the metrics are those of the database",
              [run["about"]["metrics"]["jct_p99_s"] for run in data["runs"]],
              [row[0] for row in lab.query(db, "SELECT value FROM metric WHERE name = 'jct_p99_s'"
                                               " ORDER BY run")])
    settings = {row[0]: row[1:] for row in fifo["about"]["settings"]}
    tap.equal("a setting, its unit, its default", settings["policy"][0::2], ["fifo", "elastico"])
    cdf = next(figure for figure in data["figures"] if figure["name"] == "jct-cdf")
    tap.equal("a figure has a series a run", [series["name"] for series in cdf["series"]],
              ["fifo", "sjf"])
    tap.ok("without a figure that has no points",
           "sm-util" not in {figure["name"] for figure in data["figures"]})
    lab.run("report", "--db", db, "-o", lab.path("again.html"))
    tap.ok("the same bytes again", open(out, "rb").read() == open(lab.path("again.html"), "rb").read())
    lab.run("report", "--db", db, "--run", "sjf", "-o", out)
    tap.equal("one run", [run["about"]["name"] for run in data_of(out)[0]["runs"]], ["sjf"])
    for args, code, word in (((), 2, "which database"), (("--db", db), 2, "where to"),
                             (("--db", db, "-o", "x", "--run", "z"), 2, "no run"),
                             (("--db", lab.path("none.db"), "-o", "x"), 3, "none.db"),
                             (("--db", db, "-o", "/nowhere/x"), 4, "/nowhere")):
        done = lab.run("report", *args)
        tap.ok(f"{' '.join(args[2:]) or 'nothing'}: exit {code}, and why",
               done.code == code and word in done.err, done.shown())


def case_large(lab, tap):
    """report of 60,000 jobs"""
    trace, db, out = lab.path("t.csv"), lab.new_database(), lab.path("r.html")
    lab.run("trace", "synth", "--set", "jobs=60000", "--cluster", "64x8:a100-40g", "-o", trace)
    lab.run("run", "--trace", trace, "--cluster", "64x8:a100-40g", "--policy", "fifo-skip", "--db", db)
    done = lab.run("report", "--db", db, "-o", out)
    size = os.path.getsize(out)
    tap.ok("under 20 MB, with every job and bar", done.code == 0 and size < 20e6, f"{size} bytes")
    data = data_of(out)[0]["runs"][0]
    n_bars = lab.query(db, "SELECT count(*) FROM span")[0][0]
    tap.equal("all are there", (len(data["jobs"]["job"]), len(data["spans"]["job"])), (60000, n_bars))
    if browser.find_browser() is None:
        tap.skip("in a browser", "no Chromium")
        return
    with browser.Browser(browser.find_browser()) as page:
        page.open(out)
        name = data["jobs"]["name"][40000]
        tap.equal("it renders", (page.ask("document.querySelectorAll('#job-table tbody tr').length > 10"),
                                 page.ask("document.querySelectorAll('#charts figure').length >= 4")),
                  (True, True))
        tap.ok("the Gantt has colour", page.ask(
            "(() => { const c = document.getElementById('bars'); return new Set(c.getContext('2d')"
            ".getImageData(0, 0, c.width, c.height).data).size > 8; })()"))
        said = "document.getElementById('filter-said').textContent"
        for words, n in ((name, 1), (f"name={name}", 1), ("kind=infer gpu>1", sum(
                kind == "infer" and gpu > 1 for kind, gpu in zip(data["jobs"]["kind"], data["jobs"]["gpu"]))),
                ("wait_s>0", sum(wait > 0 for wait in data["jobs"]["wait_s"])), ("", 60000)):
            start = time.monotonic()
            page.ask("(() => { const f = document.getElementById('filter'); f.value = " +
                     json.dumps(words) + f"; {said.replace('textContent', 'textContent = ')}'';"
                     " f.dispatchEvent(new Event('input')); })()")
            while not page.ask(said) and time.monotonic() < start + 20:
                time.sleep(0.02)
            seconds = time.monotonic() - start
            shown = page.ask(said)
            tap.ok(f"filter '{words}': {n} jobs, in under 2 s",
                   shown.startswith(f"{n:,} of 60,000 ") and seconds < 2, f"{shown}, {seconds:.2f} s")
        page.ask("document.querySelector('th[data-column=jct_s]').click();"
                 "document.querySelector('th[data-column=jct_s]').click()")
        first = page.ask("document.querySelectorAll('#job-table tbody tr')[1].textContent")
        longest = max(range(60000), key=lambda i: data["jobs"]["jct_s"][i])
        tap.ok("sorted downwards the longest JCT is first", data["jobs"]["name"][longest] in first, first)
        view = "JSON.stringify([bars.view.from, bars.view.to])"
        before = json.loads(page.ask(view))
        page.ask("document.getElementById('zoom-in').click()")
        after = json.loads(page.ask(view))
        tap.near("zooming in shows half the time", after[1] - after[0], (before[1] - before[0]) / 2, 1)
        tap.equal("the console has nothing to complain of", page.problems(), [])
        tap.equal("nothing was fetched", page.fetched(), [])


def case_two_runs_in_a_browser(lab, tap):
    """report, two runs in a browser"""
    if browser.find_browser() is None:
        tap.skip("in a browser", "no Chromium")
        return
    db, out = lab.new_database(), lab.path("r.html")
    for policy in ("fifo", "sjf"):
        lab.run("run", "--policy", policy, "--truth", "contention", "--db", db, "--label", policy)
    lab.run("report", "--db", db, "-o", out)
    with browser.Browser(browser.find_browser()) as page:
        page.open(out)
        tap.equal("both runs can be chosen", page.ask(
            "[...document.querySelectorAll('#run-choice option')].map(o => o.textContent)"),
            ["fifo", "sjf"])
        page.ask("(() => { const c = document.getElementById('run-choice'); c.value = 'sjf';"
                 " c.dispatchEvent(new Event('change')); })()")
        tap.equal("the other's jobs are shown", page.ask("jobs.run.name"), "sjf")
        tap.equal("its policy is a setting that differs", page.ask(
            "[...document.querySelectorAll('#setting-table tr')].filter(r => r.textContent"
            ".startsWith('policy'))[0].querySelectorAll('td.changed').length"), 2)
        tap.equal("no problems", page.problems(), [])


ROOT = pathlib.Path(__file__).parents[2]


def case_guard(lab, tap):
    """the guard for CI"""
    page = (ROOT / "docs" / "ci.md").read_text()
    path = f"{ROOT}/scripts/examples:{os.path.dirname(lab.program)}:{os.environ['PATH']}"
    for command, output in examples(page):
        done = subprocess.run(["sh", "-c", command], cwd=lab.folder, capture_output=True, text=True,
                              env={**os.environ, "PATH": path}, check=False)
        tap.ok(command, as_shown(done.stdout, output), done)
    left = sorted(os.listdir(lab.path("guard")))
    tap.equal("the guard leaves", left, ["check.txt", "junit.xml", "report.html", "runs.db", "summary.txt"])
    suite = xml.etree.ElementTree.parse(lab.path("junit.xml")).getroot()
    cases = list(suite.iter("testcase"))
    tap.ok("JUnit: a case a checked metric", len(cases) == 25 and any(
        case.get("name") == "jct_mean_s" for case in cases), [case.attrib for case in cases])
    guard = ["guard_jct", "none.json", "--trace", "trace.csv.gz", "--config", "config.json"]
    done = subprocess.run(guard, cwd=lab.folder, capture_output=True, text=True,
                          env={**os.environ, "PATH": path}, check=False)
    tap.ok("without a baseline exit 3, and why", done.returncode == 3 and "none.json" in done.stderr,
           done)
    done = subprocess.run([*guard[:1], "baseline.json", *guard[2:], "--policy", "fifo"],
                          cwd=lab.folder, capture_output=True, text=True,
                          env={**os.environ, "PATH": path}, check=False)
    tap.ok("a worse policy is exit 1, with the table", done.returncode == 1 and "WORSE" in done.stdout,
           done)


def case_ci_examples(lab, tap):
    """the examples for CI"""
    for name in ("github-actions.yml", "gitlab-ci.yml"):
        text = (ROOT / "scripts" / "examples" / name).read_text()
        named = set(re.findall(r"\bscripts/[\w./-]+", text))
        tap.ok(f"{name}: the scripts it names are here",
               "scripts/examples/guard_jct" in named and all((ROOT / path).is_file() for path in named),
               named)
        used = set(re.findall(r"^\s*(?:- )?(need|configure|build)\b", text, re.MULTILINE))
        setup = (ROOT / "scripts" / "setup.sh").read_text()
        tap.ok(f"{name}: so are the functions of setup.sh",
               used and all(f"\n{word}() {{" in setup for word in used), used)
        if yaml is None:
            tap.skip(f"{name}: is YAML", "no yaml module")
        else:
            tap.ok(f"{name}: is YAML, one job", isinstance(yaml.safe_load(text), dict))
