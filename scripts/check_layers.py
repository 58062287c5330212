#!/usr/bin/env python3
"""check_layers.py [ROOT]: who may include whom (README, "Folders").

Prints one line per #include that the tables below do not allow, and one per circle of modules;
exit status 1 where there is any. A module is x.c with x.h; headers are named by their path from
the root."""
import pathlib
import re
import sys

# A folder may include these; nothing but themselves includes tests/ and bench/.
FOLDERS = {
    "core": ("core",),
    "traces": ("core", "traces"),
    "policies": ("core", "policies"),
    "calib": ("core", "calib"),
    "sim": ("core", "traces", "policies", "calib", "sim"),
    "tests": ("core", "traces", "policies", "calib", "sim", "tests", "bench"),
    "bench": ("core", "traces", "policies", "calib", "sim", "tests", "bench"),
}
# Inside a folder with rooms, a room may include itself and those before it.
ROOMS = {"core": ("base", "cluster", "elastico"), "sim": ("run", "results", "cmd")}

# A library's headers, and the modules (or folders, ending in /) that may include them.
LIBRARIES = {
    "argp.h": ("sim/cmd/",),
    "cblas.h": ("core/elastico/dense",),
    "criterion/": (),
    "dlfcn.h": ("calib/cuda/", "calib/measure/", "sim/run/outside"),
    "gsl/": ("core/base/rng", "core/cluster/place", "traces/synth", "calib/", "sim/run/metrics",
             "sim/cmd/calib_bench", "sim/cmd/main", "sim/cmd/reproduce_order"),
    "jansson.h": ("calib/fit_file", "calib/measure/joblist", "core/base/param",
                  "core/elastico/catalog_file", "core/elastico/model_file",
                  "core/elastico/physics_file", "sim/", "traces/philly"),
    "mpi.h": ("sim/run/ranks",),
    "pthread.h": ("calib/cuda/", "sim/"),
    "sqlite3.h": ("sim/results/",),
    "xgboost/": ("core/elastico/gbdt",),
    "zlib.h": ("traces/lines", "traces/write"),
}
SYSTEM = """assert ctype dirent errno fcntl float inttypes libgen limits locale math poll regex sched
signal spawn stdalign stdarg stdatomic stdbool stddef stdint stdio stdlib string strings time unistd
sys/file sys/mman sys/prctl sys/resource sys/signalfd sys/stat sys/time sys/types
sys/wait""".split()

INCLUDE = re.compile(r'^\s*#\s*include\s*(<|")([^">]+)[">]', re.MULTILINE)


def includes_of(root, path):
    """[(line, is_ours, header)]"""
    text = (root / path).read_text()
    return [(text.count("\n", 0, found.start(2)) + 1, found[1] == '"', found[2])
            for found in INCLUDE.finditer(text)]


def module_of(path):
    return path.rpartition(".")[0]


def wrong_library(path, header):
    """Why this file may not include this <header>, or None."""
    if header.removesuffix(".h") in SYSTEM:
        return None
    if path.startswith(("tests/", "bench/")):
        return None
    for library, users in LIBRARIES.items():
        if header.startswith(library):
            fine = any(path.startswith(user) if user.endswith("/") else module_of(path) == user
                       for user in users)
            return None if fine else f"<{header}> belongs to {' '.join(users) or 'tests/'}"
    return f"<{header}> is in no table of check_layers.py"


def wrong_header(root, path, header):
    """Why this file may not include this header of ours, or None."""
    if not (root / header).is_file():
        return f'"{header}" is no path from the root'
    folder, to = path.split("/"), header.split("/")
    if to[0] not in FOLDERS[folder[0]]:
        return f'{folder[0]}/ may not include "{header}"'
    rooms = ROOMS.get(folder[0], ())
    if folder[0] == to[0] and folder[1] in rooms and to[1] in rooms:
        if rooms.index(to[1]) > rooms.index(folder[1]):
            return f'{folder[1]} lies below {to[1]}: "{header}"'
    return None


def circles(edges):
    """The circles of a graph {module: modules it includes}, each once, as lists of modules."""
    found, done = [], set()

    def walk(module, trail):
        if module in trail:
            found.append(trail[trail.index(module):] + [module])
            return
        if module in done:
            return
        for to in sorted(edges.get(module, ())):
            walk(to, trail + [module])
        done.add(module)

    for module in sorted(edges):
        walk(module, [])
    return found


def check(root):
    """Every fault under root, as text."""
    faults, edges = [], {}
    for folder in FOLDERS:
        for file in sorted((root / folder).rglob("*.[ch]")):
            path = file.relative_to(root).as_posix()
            for line, ours, header in includes_of(root, path):
                fault = wrong_header(root, path, header) if ours else wrong_library(path, header)
                if fault:
                    faults.append(f"{path}:{line}: {fault}")
                elif ours and module_of(header) != module_of(path):
                    edges.setdefault(module_of(path), set()).add(module_of(header))
    return faults + ["circle: " + " -> ".join(circle) for circle in circles(edges)]


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[1])
    faults = check(root)
    print("\n".join(faults) if faults else "layers: fine")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
