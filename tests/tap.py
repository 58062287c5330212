"""tap.py - checks that print one TAP line each; meson reads them as subtests."""
import math


class Tap:
    def __init__(self):
        self.n = self.n_failed = 0

    def _line(self, passed, name, tail=""):
        self.n += 1
        self.n_failed += not passed
        name = name.replace("#", "no. ")
        print(f"{'ok' if passed else 'not ok'} {self.n} - {name}{tail}", flush=True)

    def note(self, text):
        for line in str(text).splitlines():
            print("# " + ascii(line)[1:-1][:500], flush=True)

    def ok(self, name, passed, seen=""):
        """The check itself; seen is shown when it failed."""
        self._line(bool(passed), name)
        if not passed and seen != "":
            self.note(seen)

    def equal(self, name, got, want):
        self.ok(name, got == want, f"expected {want!r}\nfound    {got!r}")

    def near(self, name, got, want, tolerance=1e-6):
        """Numbers, or dicts or lists of numbers, within an absolute tolerance."""
        self.ok(name, _near(got, want, tolerance), f"expected {want!r} +- {tolerance}\nfound    {got!r}")

    def skip(self, name, why):
        self._line(True, name, f" # SKIP {why}")

    def end(self):
        """The plan; the exit status of the test."""
        print(f"1..{self.n}", flush=True)
        return 1 if self.n_failed else 0


def _near(got, want, tolerance):
    if isinstance(want, dict):
        return (isinstance(got, dict) and got.keys() == want.keys()
                and all(_near(got[key], want[key], tolerance) for key in want))
    if isinstance(want, (list, tuple)):
        return len(got) == len(want) and all(_near(*pair, tolerance) for pair in zip(got, want))
    return got is not None and math.isfinite(got) and abs(got - want) <= tolerance
