"""studies.py - what a study is read from: trace characterize, plot, report, the guard for CI."""
import json

from lab import native, pai_row


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
