"""readme.py - what README shows is what the program says: each "$ " line of its examples is run, in
order and in one folder, and its output compared. A line "..." stands for any lines."""
import pathlib
import re

from lines import shell

README = pathlib.Path(__file__).parents[2] / "README.md"


def examples(text):
    """[(command, its output as shown)]"""
    found = []
    for block in re.findall(r"^```\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            found.append((command, output))
    return found


def as_shown(output, shown):
    def lines(text):
        return "\n".join(line.rstrip() for line in text.strip("\n").splitlines()) + "\n"
    pattern = re.escape(lines(shown)).replace(re.escape("...\n"), "(.*\n)*")
    return re.fullmatch(pattern, lines(output)) is not None


def case_examples(lab, tap):
    """README's examples"""
    shown = examples(README.read_text())
    tap.ok("there are some", len(shown) >= 4, shown)
    for command, output in shown:
        done = shell(lab, command)
        tap.ok(command, as_shown(done.stdout, output),
               f"shown\n{output}\nnow\n{done.stdout}\n{done.stderr}")


def case_contents(lab, tap):
    """README's lists"""
    text = README.read_text()
    for what in ("policies", "formats"):
        said = lab.run("describe", what).out.decode()
        for name in re.findall(r"^([a-z][a-z0-9-]*) ", said, re.MULTILINE):
            tap.ok(f"{what}: {name}", f"`{name}`" in text)
    done = lab.run("run", "--json", "--quiet").out.decode()
    metrics = re.findall(r'"(\w+)": ', done[done.index('"metrics"') + 10:done.index('"timing"')])
    named = set(re.findall(r"\b[a-z_0-9]+\b", text))
    tap.equal("every metric is named", sorted(set(metrics) - named), [])
