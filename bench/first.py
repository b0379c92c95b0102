"""The first run after `pip install`: publish 10,000 rows and ask once, with nothing compiled yet, and again.

    python bench/first.py [METHOD ...]      every partition and publication unless some are named

Each in a new process, by CPU time of all threads: cold with an empty cache of compiled kernels, warm with what the
cold one left there: so few rows are left to Python
(`values/kernel.py`), so a warm run may find nothing and be no faster. `demo` is the method of `discreet demo`, and also
that command with as many rows.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from typing import Any

import pyarrow.parquet as pq

import discreet
from discreet.partition import PARTITIONS
from discreet.table.people import people

ROWS = 10_000
MOST, MOST_OF_DEMO = 10, 5  # CPU seconds
QUASI = ("age", "sex", "zipcode", "education", "marital_status", "country")
COUNTS, RANGE = {"l": 10}, {"k": 3, "e": 2000}
BOXES = ("mondrian", "compact", "topdown", "full_domain")
QUESTION = "SELECT sex, AVG(salary) FROM microdata WHERE age > 50 GROUP BY sex"
METHODS: dict[str, dict[str, Any]] = {
    "demo": {"partition": "mixed", "guarantee": COUNTS},
    **{
        name: {
            "partition": name,
            "guarantee": RANGE if partition.needs == "e" else COUNTS,
            "publication": "generalization"
            if name in BOXES
            else "permutation"
            if partition.needs == "e"
            else "anatomy",
            "ordered": QUASI,
        }
        for name, partition in PARTITIONS.items()
    },
    "mixed, cells": {"partition": "mixed", "guarantee": COUNTS, "options": {"cells": 10}},
    "local, fitted": {"partition": "local", "guarantee": COUNTS, "options": {"cuts": "fitted"}},
    "full_permutation": {"publication": "full_permutation", "guarantee": COUNTS},
    "slicing": {"publication": "slicing", "guarantee": COUNTS, "together": [["age", "sex"]]},
}


def publish_once(source: str, name: str, folder: str) -> None:
    policy = discreet.Policy(quasi=QUASI, sensitive="salary", drop="rest", **METHODS[name])
    discreet.publish(source, policy, to=folder, progress=lambda _: None)


def ask_once(folder: str) -> None:
    discreet.ask(folder, QUESTION).rows()


def started(command: list[str], caches: str) -> float:
    """The CPU seconds of a new process."""
    places = {"NUMBA_CACHE_DIR": f"{caches}/numba", "DISCREET_CACHE": f"{caches}/discreet"}
    with subprocess.Popen(  # noqa: S603 - it is this file, or the program
        [sys.executable, *command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**os.environ, **places}
    ) as process:
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"it failed: {' '.join(command)}")
    return used.ru_utime + used.ru_stime


def line(what: str, cold: float, warm: float, limit: float) -> str:
    return f"{what:28} {cold:8.1f} {warm:8.1f} {limit:8g}{'' if cold <= limit else '  MISSED'}"


def main(*names: str) -> None:
    print(f"{ROWS:,} rows: CPU seconds of a new process\n\n{'':28} {'cold':>8} {'warm':>8} {'at most':>8}")
    with tempfile.TemporaryDirectory(prefix="discreet-") as place:
        source = f"{place}/people.parquet"
        pq.write_table(people(ROWS), source)
        for name in names or METHODS:
            limit = MOST_OF_DEMO if name == "demo" else MOST
            folder = f"{place}/{name}"
            cold, warm = (
                started([__file__, "publish", source, name, f"{folder} {turn}"], f"{folder} publish")
                for turn in ("cold", "warm")
            )
            print(line(f"publish: {name}", cold, warm, limit), flush=True)
            cold, warm = (started([__file__, "ask", f"{folder} cold"], f"{folder} ask") for _ in range(2))
            print(line(f"    ask: {name}", cold, warm, limit), flush=True)
        if not names or "demo" in names:
            command = ["-m", "discreet", "demo", "--rows", str(ROWS)]
            cold, warm = (started(command, f"{place}/whole demo") for _ in range(2))
            print(line(f"discreet demo --rows {ROWS}", cold, warm, MOST))


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["publish", source, name, folder]:
            publish_once(source, name, folder)
        case ["ask", folder]:
            ask_once(folder)
        case names:
            main(*names)
