"""Ask releases what one would ask the original table, in a new process and again, with a new constant every time.

    python bench/ask.py [ROWS ...]      1 million rows unless told otherwise; 10000000 takes some minutes more

Everything is CPU time, of all threads, so that a busy machine does not matter. Warm: the median of a question beside
the same aggregate on the original table, both in memory; they take turns. Cold: a new process that opens the release
and asks once, beside a new process that reads the release's files once, and three times the warm original.
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import duckdb

import discreet
from data import QUASI, SENSITIVE, table

WARM, COLD = 2, 3
TIMES, STARTS = 7, 3
RELEASES = {
    "deal": {"partition": "deal", "guarantee": {"l": 10}},
    "local": {"partition": "local", "guarantee": {"l": 10}},
    "permutation": {"partition": "min_sum", "guarantee": {"k": 3, "e": 3}, "publication": "permutation"},
}
RANGE = "FROM microdata WHERE age BETWEEN {} AND 40"
BY = "SELECT {key}, {what}(salary) FROM microdata WHERE {on} > {{}} GROUP BY {key}"
QUESTIONS = {
    "COUNT": f"SELECT COUNT(*) {RANGE}",
    "COUNT, sensitive condition": f"SELECT COUNT(*) {RANGE} AND salary < 20",
    "SUM": f"SELECT SUM(salary) {RANGE}",
    "AVG": f"SELECT AVG(salary) {RANGE}",
    "SUM, two columns": f"SELECT SUM(salary) {RANGE} AND gender = 1",
    "AVG by 6 keys": BY.format(key="marital", what="AVG", on="age"),
    "AVG by 83 keys": BY.format(key="country", what="AVG", on="age"),
    "AVG by 6 keys, sensitive condition": BY.format(key="marital", what="AVG", on="salary"),
    "SUM by 83 keys, sensitive condition": BY.format(key="country", what="SUM", on="salary"),
    "MEDIAN": f"SELECT MEDIAN(salary) {RANGE}",
    "MEDIAN by 6 keys": BY.format(key="marital", what="MEDIAN", on="age"),
    "MIN": f"SELECT MIN(salary) {RANGE}",
    "MAX": f"SELECT MAX(salary) {RANGE}",
}


@dataclass(frozen=True)
class Started:
    """A new process: its CPU time in milliseconds, and the most memory it took."""

    milliseconds: float
    megabytes: float


def milliseconds(*acts: Callable[[int], object]) -> list[float]:
    """The median CPU time of each act; they take turns, each with a number that it did not have before."""
    taken: list[list[float]] = [[] for _ in acts]
    for turn in range(TIMES + 1):
        for act, times in zip(acts, taken, strict=True):
            start = time.process_time()
            act(turn)
            if turn:  # the first is a warm-up
                times.append(1000 * (time.process_time() - start))
    return [statistics.median(times) for times in taken]


def started(*arguments: str) -> Started:
    """What a new process of this file takes, at the median."""
    found = []
    for turn in range(STARTS):
        command = [sys.executable, __file__, *(each.replace("{}", str(5 + turn)) for each in arguments)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603 - it is this file
            told = process.stdout.read() if process.stdout else ""
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise SystemExit(f"it failed: {arguments}")
        found.append((1000 * (used.ru_utime + used.ru_stime), float(told)))
    return Started(*(statistics.median(column) for column in zip(*found, strict=True)))


def ask_once(folder: str, sql: str) -> None:
    discreet.ask(folder, sql).rows()


def read_once(folder: str) -> None:
    """Read every column of a release's files into memory."""
    connection = duckdb.connect()
    for number, file in enumerate(sorted(Path(folder).glob("*.parquet"))):
        connection.execute(f"CREATE TABLE t{number} AS FROM '{file}'")


def peak() -> float:
    """The most memory that this process took, in megabytes; not that of the one that started it, if it can be told."""
    status = Path("/proc/self/status")
    lines = status.read_text().splitlines() if status.exists() else []
    found = next((each.split()[1] for each in lines if each.startswith("VmHWM")), None)
    return float(found or resource.getrusage(resource.RUSAGE_SELF).ru_maxrss) / 2**10


def published(rows: int, name: str) -> Path:
    """The release, made once and kept among the temporary files."""
    path = table(rows)
    folder = path.parent / f"{rows}-{name}"
    if not folder.exists():
        discreet.publish(path, discreet.Policy(quasi=QUASI, sensitive=SENSITIVE, **RELEASES[name]), to=folder)
    return folder


def line(question: str, base: float, warm: float, cold: Started, read: Started) -> tuple[str, list[str]]:
    """What was measured of a question, and what of it misses its limit."""
    times, of_limit = warm / base, cold.milliseconds / (read.milliseconds + COLD * base)
    missed = [f"{what}: {question}" for what, miss in (("warm", times > WARM), ("cold", of_limit > 1)) if miss]
    told = f"{question:36} {base:9.1f} {warm:9.1f} {times:9.2f} {cold.milliseconds:9.0f} {of_limit:9.2f}"
    marks = ", ".join(each.partition(":")[0] for each in missed)
    return f"{told} {cold.megabytes:8.0f}{'  MISSED ' * bool(missed)}{marks}", missed


def lines(rows: int, name: str) -> Iterator[tuple[str, list[str]]]:
    """All questions to one release."""
    folder = published(rows, name)
    read = started("read", str(folder))
    with duckdb.connect() as original:
        original.execute(f"CREATE TABLE microdata AS FROM '{table(rows)}'")
        groups = f"{discreet.open_release(folder).promise.groups:,} groups"
        yield f"\n{rows:,} rows, {name}: {groups}; its files are read in {read.milliseconds:.0f} ms", []
        yield f"{'':36} {'original':>9} {'warm':>9} {'times':>9} {'cold':>9} {'of limit':>9} {'MB':>8}", []
        for question, sql in QUESTIONS.items():
            with discreet.open_release(folder) as release:  # anew: nothing is known from another question
                base, warm = milliseconds(
                    lambda turn, sql=sql: original.execute(sql.format(20 + turn)).fetchall(),
                    lambda turn, sql=sql, release=release: release.ask(sql.format(20 + turn)),
                )
            yield line(question, base, warm, started("ask", str(folder), sql), read)


def main(*sizes: int) -> None:
    started("ask", str(published(sizes[0], "deal")), QUESTIONS["AVG"])  # so that everything is compiled
    missed: list[str] = []
    for rows in sizes:
        for name in RELEASES:
            for told, misses in lines(rows, name):
                print(told, flush=True)
                missed += misses
    print(f"\nlimits: warm {WARM} times the original; cold {COLD} times, and one read of the files")
    print(f"{len(missed)} missed; all of it in one process took {peak() / 2**10:.1f} GB at most")


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["ask", folder, sql]:
            ask_once(folder, sql)
            print(peak())
        case ["read", folder]:
            read_once(folder)
            print(peak())
        case sizes:
            main(*map(int, sizes or ["1000000"]))
