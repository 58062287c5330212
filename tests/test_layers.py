#!/usr/bin/env python3
"""test_layers.py: the tree keeps the order of its folders, and a wrong #include is caught."""
import pathlib
import sys
import tempfile

from tap import Tap

ROOT = pathlib.Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "scripts"))
import check_layers

# A small tree without fault; each row of WRONG replaces one file of it.
RIGHT = {
    "core/base/a.h": "#include <stdint.h>\n",
    "core/base/a.c": '#include "core/base/a.h"\n#include <errno.h>\n',
    "core/cluster/b.h": '#include "core/base/a.h"\n#include <stdbool.h>\n',
    "core/cluster/place.h": '#include "core/cluster/b.h"\n#include <gsl/gsl_rng.h>\n',
    "traces/lines.c": "#include <zlib.h>\n",
    "traces/t.h": '#include "core/cluster/b.h"\n',
    "policies/p.c": '#include "core/cluster/place.h"\n',
    "sim/run/r.h": '#include "traces/t.h"\n',
    "sim/results/s.h": '#include "sim/run/r.h"\n#include <sqlite3.h>\n',
    "sim/cmd/m.c": '#include "sim/results/s.h"\n#include <argp.h>\n',
    "tests/test_a.c": '#include "sim/run/r.h"\n#include <criterion/criterion.h>\n',
}
WRONG = [
    ("core includes sim", "core/base/a.c", '#include "sim/run/r.h"\n', "core/ may not include"),
    ("a policy includes traces", "policies/p.c", '#include "traces/t.h"\n', "policies/ may not"),
    ("a policy includes sim", "policies/p.c", '\n  #  include "sim/run/r.h"\n', "policies/p.c:2"),
    ("traces include policies", "traces/t.h", '#include "policies/p.c"\n', "traces/ may not"),
    ("base includes cluster", "core/base/a.c", '#include "core/cluster/b.h"\n', "base lies below"),
    ("run includes results", "sim/run/r.h", '#include "sim/results/s.h"\n', "run lies below"),
    ("results includes cmd", "sim/results/s.h", '#include "sim/cmd/m.c"\n', "results lies below"),
    ("sim includes tests", "sim/run/r.h", '#include "tests/test_a.c"\n', "sim/ may not include"),
    ("a header not named from the root", "core/base/a.c", '#include "a.h"\n', "no path from"),
    ("SQLite in core", "core/base/a.c", "#include <sqlite3.h>\n", "<sqlite3.h> belongs to"),
    ("SQLite in sim/run", "sim/run/r.h", "#include <sqlite3.h>\n", "<sqlite3.h> belongs to"),
    ("zlib in sim", "sim/cmd/m.c", "#include <zlib.h>\n", "<zlib.h> belongs to"),
    ("GSL in a policy", "policies/p.c", "#include <gsl/gsl_rng.h>\n", "<gsl/gsl_rng.h> belongs"),
    ("jansson in traces", "traces/t.h", "#include <jansson.h>\n", "<jansson.h> belongs to"),
    ("Criterion outside tests", "sim/run/r.h", "#include <criterion/new.h>\n", "belongs to tests/"),
    ("an unknown library", "sim/cmd/m.c", "#include <curl/curl.h>\n", "is in no table"),
    ("two headers in a circle", "core/base/a.h", '#include "core/base/c.h"\n', "core/base/a -> "),
]


def faults_of(files):
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for path, text in files.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text)
        return check_layers.check(root)


def main():
    tap = Tap()
    faults = check_layers.check(ROOT)
    tap.ok("every include of the tree is one the tables allow", not faults, "\n".join(faults))
    tap.equal("a right tree has no fault", faults_of(RIGHT), [])
    for name, path, text, want in WRONG:
        more = {"core/base/c.h": '#include "core/base/a.h"\n'} if "circle" in name else {}
        found = faults_of({**RIGHT, **more, path: text})
        tap.ok(f"caught: {name}", any(want in fault for fault in found), found)
    return tap.end()


sys.exit(main())
