"""What it costs not to fill a group with one value: answers on an hourly wage that 94 of 100 people do not have.

    python bench/frequent.py [ROWS]     10,000 rows unless told otherwise

Each partition under (k,e) = (5, 500), and some with `harmless = [0]`: the largest share of one value in a group (of the
people who have a wage, if 0 is harmless), how many people are known to have a wage, and the median of
|estimate - truth| / truth over 60 questions each of SUM(wage), AVG(wage), and COUNT(*) of those with a wage.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa

import discreet

QUASI, QUESTIONS = ["age", "sex", "education", "region"], 60
AGGREGATES = {
    "SUM": "SELECT SUM(wage) FROM microdata WHERE {}",
    "AVG": "SELECT AVG(wage) FROM microdata WHERE {}",
    "COUNT": "SELECT COUNT(*) FROM microdata WHERE wage > 0 AND {}",
}
METHODS = [
    *((name, ()) for name in ("min_sum", "tightest", "local", "deal", "auto")),
    *((name, (0,)) for name in ("min_sum", "deal")),
]


def table(rows: int) -> pa.Table:
    """People, of whom those of working age and with more education have a wage more often."""
    rng = np.random.default_rng(3)
    age, education = rng.integers(0, 90, rows), rng.integers(0, 12, rows)
    odds = np.where((age > 16) & (age < 65), 1.0, 0.15) * (0.6 + education / 12)
    paid = rng.random(rows) < 0.06 * odds / odds.mean()
    wage = np.where(paid, np.exp(rng.normal(2.4, 0.5, rows) + education / 20) * 100 + 100, 0).astype(int)
    sex, region = rng.choice(["f", "m"], rows), rng.integers(0, 51, rows)
    return pa.table({"age": age, "sex": sex, "education": education, "region": region, "wage": wage})


def conditions() -> Iterator[str]:
    """Ranges of age and education and one sex, one to three of them at a time."""
    rng = np.random.default_rng(1)
    for _ in range(QUESTIONS):
        low, span, least = int(rng.integers(15, 60)), int(rng.integers(5, 30)), int(rng.integers(0, 9))
        each = [
            f"age BETWEEN {low} AND {low + span}",
            f"sex = '{rng.choice(['f', 'm'])}'",
            f"education BETWEEN {least} AND {least + 4}",
        ]
        yield " AND ".join(each[i] for i in rng.choice(3, size=rng.integers(1, 4), replace=False))


def errors(release: discreet.Release, microdata: pa.Table, form: str) -> float:  # noqa: ARG001 - DuckDB finds it
    found = []
    for condition in conditions():
        sql = form.format(condition)
        [[truth]] = duckdb.sql(sql).fetchall()
        estimate, *_ = release.ask(sql).rows()[0].values()
        found.append(abs(float(estimate) - float(truth)) / float(truth))
    return float(np.median(found))


def known(release: discreet.Release) -> int:
    """People in groups without a 0."""
    counts = duckdb.read_parquet(str(release.file("st")))  # noqa: F841 - DuckDB finds it
    query = 'SELECT COALESCE(SUM(n), 0) FROM (SELECT SUM(count) AS n FROM counts GROUP BY "group" HAVING MIN(wage) > 0)'
    return int(duckdb.sql(query).fetchall()[0][0])


def main() -> None:
    microdata = table(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000)
    head = f"{'partition':<22}{'groups':>8}{'largest share':>15}{'known paid':>12}"
    print(head, *(f"{name:>8}" for name in AGGREGATES))
    for partition, harmless in METHODS:
        policy = discreet.Policy(
            quasi=QUASI,
            sensitive="wage",
            guarantee={"k": 5, "e": 500},
            partition=partition,
            harmless=harmless,
            options={"cuts": "fitted"} if partition == "local" else {},
            accept={"dominant": "it is measured here"},
        )
        with (
            tempfile.TemporaryDirectory() as folder,
            discreet.publish(microdata, policy, to=Path(folder) / "release", seed=1) as release,
        ):
            about, name = release.promise, f"{partition}{', harmless 0' if harmless else ''}"
            answers = (f"{errors(release, microdata, form):>8.1%}" for form in AGGREGATES.values())
            print(
                f"{name:<22}{about.groups:>8,}{about.largest_share:>15.1%}{known(release):>12,}", *answers, flush=True
            )


if __name__ == "__main__":
    main()
