#!/usr/bin/env python3
"""run_cases.py COLOSIM GROUP: runs the cases of one group (a module beside this file) as TAP.

A case is a function `case_*(lab, tap)`; the first line of its docstring names it. Every case has
a folder of its own."""
import importlib
import pathlib
import sys
import tempfile
import traceback

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from lab import Lab
from tap import Tap


class CaseTap(Tap):
    """Names every check after its case."""
    case = ""

    def _line(self, passed, name, tail=""):
        super()._line(passed, f"{self.case}: {name}", tail)


def main():
    program, group = sys.argv[1:]
    module = importlib.import_module(group)
    tap = CaseTap()
    for name, case in list(vars(module).items()):
        if not name.startswith("case_"):
            continue
        tap.case = case.__doc__.splitlines()[0].rstrip(".")
        with tempfile.TemporaryDirectory(prefix="colosim-") as folder:
            try:
                case(Lab(program, folder), tap)
            except Exception:  # a broken check is a failed check, the others still run
                tap.ok("runs to its end", False, traceback.format_exc())
    return tap.end()


sys.exit(main())
