"""Run figures of time with a clock that tells how often Numba has compiled or loaded a kernel; print what rows say.

A program of its own, because what one test has loaded the next finds in memory.
"""

import json
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

from numba.core import event

from discreet.experiments import byun, experiment, li, xiao
from discreet.experiments.koudas import measured as koudas
from discreet.experiments.run import run
from discreet.experiments.sacharidis import measured as sacharidis


class Late(event.Listener):
    """How often a kernel was not there yet."""

    times = 0

    def on_start(self, event):
        self.times += 1

    def on_end(self, event):
        pass


LATE = Late()


@contextmanager
def pages(size):
    before = LATE.times
    found = {}
    yield lambda: found
    found["pages"] = 1e-6 + LATE.times - before


def main(to, *names):
    event.register("numba:compiler_lock", LATE)
    for module in (byun, koudas, li, sacharidis):
        module.time = SimpleNamespace(process_time=lambda: LATE.times + 1e-6 * time.process_time())  # judges divide
    xiao.pages = pages
    found = {}
    for name in names:
        own = experiment(name)
        found[name] = [row[own.chart.y] for row in run(own, to=Path(to), charts=False).rows]
    print(json.dumps({"all": LATE.times, **found}))


if __name__ == "__main__":
    main(*sys.argv[1:])
