"""GROUP BY what a release shows as boxes: exact where no key cuts through one, else as conditions are."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, timedelta
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from discreet.errors import QueryError
from discreet.release import Release
from laws.questions import Case, Column

GROUPS = tuple(i // 6 for i in range(48))
TABLE = pa.table(
    {
        "sex": ["f" if group < 4 else "m" for group in GROUPS],  # of one sex in each group
        "age": [20 + 10 * (group % 4) + i % 10 for i, group in enumerate(GROUPS)],  # of one decade
        "town": [["Aix", "Brest", None][(i + group) % 3] for i, group in enumerate(GROUPS)],
        "hired": [date(2020, 1, 1) + timedelta(days=i % 5) for i in range(48)],
        "height": [1.5 + i / 100 for i in range(48)],
        "pay": [100 * (i % 6) + group for i, group in enumerate(GROUPS)],
    }
)
ENDS = ("", "_stderr", "_low", "_high")


@pytest.fixture(scope="module")
def release() -> Iterator[Release]:
    columns = [Column(name, "none", ()) for name in TABLE.column_names]
    with Case(tuple(columns[:-1]), columns[-1], TABLE, GROUPS, "generalization").released() as made:
        yield made


def truth(sql: str) -> dict[tuple[Any, ...], float]:
    with duckdb.connect() as plain:
        plain.register("microdata", TABLE)
        return {tuple(row[:-1]): row[-1] for row in plain.sql(sql).fetchall()}


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT sex, AVG(pay) AS x FROM microdata GROUP BY sex",
        "SELECT sex, age // 10 AS decade, SUM(pay) AS x FROM microdata GROUP BY sex, decade",
        "SELECT age < 30 AS young, COUNT(*) AS x FROM microdata GROUP BY 1",
        "SELECT CASE WHEN age < 40 THEN 'young' ELSE 'old' END AS band, MAX(pay) AS x FROM microdata GROUP BY band",
        "SELECT pay > 200 AS well, sex, COUNT(*) AS x FROM microdata WHERE age >= 30 GROUP BY well, sex",
        "SELECT YEAR(hired) AS year, COUNT(DISTINCT pay) AS x FROM microdata GROUP BY year",
    ],
)
def test_keys_that_cut_no_box_are_exact(sql: str, release: Release) -> None:
    answer = release.ask(sql)
    expected = truth(sql)
    width = len(next(iter(expected)))
    found = {tuple(row.values())[:width]: row for row in answer.rows()}
    assert found.keys() == expected.keys()
    for key, row in found.items():
        assert [row[f"x{end}"] for end in ("", "_low", "_high")] == pytest.approx([expected[key]] * 3)
    assert answer.assumption is None


@pytest.mark.parametrize("key", ["age // 7", "town", "hired", "sex || '!'", "town IS NULL"])
def test_other_keys_are_answered_as_conditions_are(key: str, release: Release) -> None:
    sql = f"SELECT {key} AS k, COUNT(*) AS n, AVG(pay) AS x FROM microdata WHERE pay > 100 GROUP BY k"
    answer = release.ask(sql)
    expected = truth(f"SELECT {key} AS k, COUNT(*) AS n FROM microdata WHERE pay > 100 GROUP BY k")
    rows = {(row["k"],): row for row in answer.rows()}
    assert expected.keys() <= rows.keys()
    assert all(rows[key]["n_low"] <= n <= rows[key]["n_high"] for key, n in expected.items())
    for (value,), row in list(rows.items())[:2]:
        literal = "NULL" if value is None else f"DATE '{value}'" if isinstance(value, date) else repr(value)
        condition = f"{key} IS NOT DISTINCT FROM {literal}"
        alone = f"SELECT COUNT(*) AS n, AVG(pay) AS x FROM microdata WHERE pay > 100 AND {condition}"
        [expect] = release.ask(alone).rows()
        names = [f"{name}{end}" for name in "nx" for end in ENDS]
        assert [row[name] for name in names] == [pytest.approx(expect[name]) for name in names]


def test_it_is_not_one_query(release: Release) -> None:
    with pytest.raises(QueryError, match="once for each value of a key"):
        release.explain("SELECT sex, COUNT(*) FROM microdata GROUP BY sex")


def test_order_and_limit_are_kept(release: Release) -> None:
    sql = "SELECT age // 10 AS decade, SUM(pay) AS x FROM microdata GROUP BY decade ORDER BY x DESC, decade LIMIT 2 OFFSET 1"
    every = truth("SELECT age // 10 AS decade, SUM(pay) AS x FROM microdata GROUP BY decade")
    ordered = sorted(every, key=lambda key: (-every[key], key))
    assert [(row["decade"],) for row in release.ask(sql).rows()] == ordered[1:3]
    default = release.ask("SELECT town, COUNT(*) FROM microdata GROUP BY town").rows()
    assert [row["town"] for row in default] == ["Aix", "Brest", None]


@pytest.mark.parametrize(
    ("key", "told"),
    [
        ("age > LENGTH(sex)", "is about several columns, and boxes show each by itself"),
        ("height", "`height` may have too many values to tell them apart"),
        ("age, hired", "200 combinations of keys; of boxes at most 100 are told apart"),
    ],
)
def test_what_is_refused_says_what_to_write(key: str, told: str, release: Release) -> None:
    with pytest.raises(QueryError, match=told) as caught:
        release.ask(f"SELECT COUNT(*) FROM microdata GROUP BY {key}")
    assert caught.value.hint
