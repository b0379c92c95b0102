"""Ask a release of 10 million rows, against the same aggregate on the original table; both warm in DuckDB."""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import duckdb

import discreet
from data import QUASI, SENSITIVE, table
from measure import verdict

LIMIT = 2
TIMES = 20
QUESTIONS = {
    "COUNT, range": "SELECT COUNT(*) FROM microdata WHERE age BETWEEN 20 AND 40",
    "COUNT, range and sensitive": "SELECT COUNT(*) FROM microdata WHERE age BETWEEN 20 AND 40 AND salary < 20",
    "SUM, range": "SELECT SUM(salary) FROM microdata WHERE age BETWEEN 20 AND 40",
    "AVG, range": "SELECT AVG(salary) FROM microdata WHERE age BETWEEN 20 AND 40",
    "SUM, range and equal": "SELECT SUM(salary) FROM microdata WHERE age BETWEEN 20 AND 40 AND gender = 1",
    "AVG, range, by gender": "SELECT gender, AVG(salary) FROM microdata WHERE age BETWEEN 20 AND 40 GROUP BY gender",
}


def milliseconds(*acts: Callable[[], object]) -> list[float]:
    """The median time of each act; they take turns, so that a busy machine is busy for all of them."""
    taken: list[list[float]] = [[] for _ in acts]
    for turn in range(TIMES + 1):
        for act, times in zip(acts, taken, strict=True):
            start = time.perf_counter()
            act()
            if turn:  # the first is a warm-up
                times.append(time.perf_counter() - start)
    return [1000 * statistics.median(times) for times in taken]


def main(rows: int) -> None:
    path = table(rows)
    original = duckdb.connect()
    original.execute(f"CREATE TABLE microdata AS FROM '{path}'")
    print(f"{rows:,} rows, median of {TIMES}")
    for partition in ("deal", "anatomize", "local"):
        policy = discreet.Policy(quasi=QUASI, sensitive=SENSITIVE, guarantee={"l": 10}, partition=partition)
        with tempfile.TemporaryDirectory() as folder:
            release = discreet.publish(path, policy, to=Path(folder) / "release")
            start = time.perf_counter()
            desk = release.session
            opened = time.perf_counter() - start
            print(f"\n{partition}: {release.promise.groups:,} groups, loaded in {opened:.1f} s")
            print("question                     original ms   release ms   times the original       the first time")
            for question, sql in QUESTIONS.items():
                start = time.perf_counter()
                desk.ask(sql)
                first = time.perf_counter() - start
                base, taken = milliseconds(
                    lambda sql=sql: original.execute(sql).fetchall(), lambda sql=sql, desk=desk: desk.ask(sql)
                )
                told = verdict(taken / base, LIMIT)
                print(f"{question:28} {base:11.1f} {taken:12.1f}   {told:26} {first:5.1f} s")
            desk.close()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000)
