"""Law: hits are the same however they are counted: by ranks, in slots, or row by row."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, suppress
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest

from discreet import Policy, publish
from discreet.answer import Session
from discreet.answer.ranks import MOST_RUNS, MOST_VALUES, Ranks
from discreet.engines.duckdb import DuckDB
from discreet.publication.publish import publish_groups
from discreet.release import Release
from discreet.table import read

CONDITIONS = {
    "age": ("age BETWEEN 30 AND 50", "age < 18", "age % 2 = 0", "age IN (20, 33, 81)", "NOT age > 60", "age / 0 > 1"),
    "town": ("town LIKE 'B%'", "town IS NULL", "town <> 'Ulm'", "UPPER(town) = 'KIEL' OR town IS NULL", "town > 'C'"),
    "born": (
        "born >= DATE '1980-01-01'",
        "EXTRACT(year FROM born) = 1979",
        "born IS NOT NULL",
        "born < DATE '1000-01-01'",
    ),
    "smokes": ("smokes", "NOT smokes", "smokes IS NULL"),
    "weight": ("weight > 70.5", "weight BETWEEN 60 AND 60.25", "ROUND(weight) = 61"),
}
MEASURES = "COUNT(*) AS n, SUM(pay) AS s, AVG(pay) AS a, MIN(pay) AS least"
QUESTIONS = [
    f"SELECT {MEASURES} FROM microdata WHERE ({condition}){also}"
    for column, conditions in CONDITIONS.items()
    for condition in conditions
    for also in ("", " AND pay < 2")[: 1 + (column in {"town", "smokes"})]
]
SEVERAL = (
    "age < 40 AND smokes",
    "smokes OR town = 'Ulm'",
    "smokes IS NULL AND town IS NULL",
    "LENGTH(town) * age > 99",
)
QUESTIONS += [f"SELECT {MEASURES} FROM microdata WHERE {condition}" for condition in SEVERAL]
QUESTIONS += [
    f"SELECT {keys}, {MEASURES} FROM microdata {where} GROUP BY {keys}"
    for keys in ("smokes", "smokes, town", "age // 30", "town IS NULL")
    for where in ("", "WHERE age < 40", "WHERE age > 200", "WHERE smokes AND pay < 2")
]


def people(rows: int, pay: np.ndarray) -> pa.Table:
    rng = np.random.default_rng(7)
    gone = rng.random(rows) < 0.1
    return pa.table(
        {
            "age": pa.array(rng.integers(18, 90, rows)),
            "town": pa.array(rng.choice(["Ulm", "Bonn", "Berlin", "Kiel"], rows), mask=gone),
            "born": pa.array(
                [date(1979, 6, 1) + timedelta(days=int(day)) for day in rng.integers(0, 400, rows)], mask=gone
            ),
            "smokes": pa.array(rng.random(rows) < 0.3, mask=rng.random(rows) < 0.2),
            "weight": pa.array(rng.integers(200, 320, rows) / 4),
            "pay": pay,
        }
    )


def answers(release: Release, way: str) -> dict[str, tuple[list[dict[str, Any]], str]]:
    """What is answered to every question, and the SQL that does, where hits are counted in one way only."""
    with (
        patch("discreet.answer.ranks.MOST_VALUES", 512 if way == "ranks" else 0),
        patch("discreet.answer.ranks.MOST_PLACES", 0),  # however many words it takes
        patch("discreet.answer.slots.MOST_PLACES", 24 if way == "slots" else 0),
        closing(Session(release)) as desk,
    ):
        found = {asked: desk.ask(asked) for asked in QUESTIONS}
        return {asked: (answer.rows(), answer.sql) for asked, answer in found.items()}


def close(one: list[dict[str, Any]], other: list[dict[str, Any]]) -> bool:
    """Whether two answers agree but for the order in which numbers were added up."""
    return all(
        this == that or (this is not None and that is not None and float(this) == pytest.approx(float(that), abs=1e-6))
        for mine, theirs in zip(one, other, strict=True)
        for this, that in zip(mine.values(), theirs.values(), strict=True)
    )


@pytest.mark.parametrize("sizes", ["few rows alike", "few rows unlike", "hundreds of rows"])
def test_ranks_count_as_rows_do(sizes: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(8)
    few, publication = sizes != "hundreds of rows", "anatomy" if sizes != "hundreds of rows" else "permutation"
    pay = rng.integers(-40, 40, 3_000) if sizes == "few rows unlike" else np.arange(3_000) % (5 if few else 3_000)
    policy = Policy(
        quasi=[*CONDITIONS],
        sensitive="pay",
        guarantee={"l": 5} if few else {"k": 700, "e": 0},
        partition="deal" if few else "min_sum",
        publication=publication,
    )
    release = publish(people(3_000, pay), policy, to=tmp_path / "release", seed=1)
    ranks, slots, rows = (answers(release, way) for way in ("ranks", "slots", "rows"))
    for asked, (found, sql) in rows.items():
        assert close(ranks[asked][0], found), asked
        assert close(slots[asked][0], found), asked
        assert "slots_" not in sql
        assert "ranks_" not in sql
    assert sum("ranks_" in sql for _, sql in ranks.values()) > len(QUESTIONS) / 2
    assert any("slots_" in sql for _, sql in slots.values()) == few


@pytest.mark.parametrize(("most", "bits"), [(24, 8), (255, 8), (256, 16), (65_535, 16), (65_536, 32)])
def test_a_rank_has_room_for_the_largest_group(most: int, bits: int, tmp_path: Path) -> None:
    """Two groups of so many rows, all of which may be hit; the first has them all with one value."""
    assert Ranks("r", 100, most).bits == bits
    rows = 2 * most
    table = pa.table({"age": np.arange(rows) % 7 * (np.arange(rows) >= most), "pay": np.arange(rows) % most})
    policy = Policy(quasi=["age"], sensitive="pay", guarantee={"l": 2}, partition="deal")
    with read(table) as private:
        groups = (np.arange(rows) >= most).astype(np.int32)
        release = publish_groups(private, policy, private.codes("pay"), groups, to=tmp_path / "release")
    with closing(release.session) as desk:
        for condition in ("age >= 0", "age = 0", "age > 0", "age IN (1, 3, 6)", "age > 6"):
            found = desk.ask(f"SELECT SUM(pay) AS s FROM microdata WHERE {condition}")
            with patch.object(Session, "_hits_for", lambda *_: None), closing(Session(release)) as plain:
                assert close(found.rows(), plain.ask(f"SELECT SUM(pay) AS s FROM microdata WHERE {condition}").rows())


@pytest.mark.parametrize("values", [511, 512, 513])
def test_columns_of_many_values_are_left_to_others(values: int) -> None:
    assert Ranks("r", values, 1_000).serves == (values <= MOST_VALUES)
    assert not Ranks("r", values, 2).serves


HARD = {
    "infinite": ([1.0, 2, 4, 8, 16, float("inf")], "age IN (1, 3)", 7.5),
    "huge": ([1, 2, 4, 8, 1e308, 1.5e308, 1.2e308, 1.6e308], "age IN (1, 3)", 7.5),
    "long decimals": ([Decimal(7 * 10**35 + i) for i in range(6)], "age < 4", 21e35),
}


@pytest.mark.parametrize("kind", HARD)
def test_values_that_are_not_hit_change_nothing(kind: str, tmp_path: Path) -> None:
    values, condition, expected = HARD[kind]
    pay = pa.array(values, pa.decimal128(38, 2)) if kind == "long decimals" else pa.array(values)
    table = pa.table({"age": np.arange(1, len(values) + 1), "pay": pay})
    policy = Policy(quasi=["age"], sensitive="pay", guarantee={"l": 2}, partition="deal")
    with read(table) as private:
        groups = (np.arange(len(values)) // 2).astype(np.int32)
        release = publish_groups(private, policy, private.codes("pay"), groups, to=tmp_path / "release")
    [answer] = release.ask(f"SELECT SUM(pay) AS s FROM microdata WHERE {condition}").rows()
    assert answer["s"] == pytest.approx(expected)
    assert answer["s_low"] <= answer["s"] <= answer["s_high"]


def test_a_condition_is_computed_in_the_type_of_its_column(tmp_path: Path) -> None:
    """Though values that stand beside their group are kept in a narrower one; and need not be a boolean."""
    pay = np.random.default_rng(1).permutation(3_000) * 10
    table = pa.table({"age": np.arange(3_000) % 60, "flag": np.arange(3_000) % 2 == 0, "pay": pay})
    table = table.set_column(1, "flag", table["flag"].cast(pa.string()))
    policy = Policy(quasi=["age", "flag"], sensitive="pay", guarantee={"l": 3}, partition="deal")
    release = publish(table, policy, to=tmp_path / "release")
    [half] = release.ask("SELECT COUNT(*) AS n FROM microdata WHERE age >= 0 AND pay * 2 >= 30000").rows()
    assert half["n_low"] == half["n_high"] == 1_500
    [even] = release.ask("SELECT COUNT(*) AS n, SUM(pay) AS s FROM microdata WHERE flag").rows()
    assert even["n"] == 1_500


def test_a_desk_outlives_an_interrupt(tmp_path: Path) -> None:
    pay = np.random.default_rng(1).integers(0, 500, 600)
    table = pa.table({"age": np.arange(600) % 9, "zip": np.arange(600), "pay": pay})
    policy = Policy(quasi=["age", "zip"], sensitive="pay", guarantee={"l": 3}, partition="deal")
    release = publish(table, policy, to=tmp_path / "release")
    load = DuckDB.load
    for condition in ("age < 4", "zip < 300"):
        for last in range(1, 7):
            with closing(Session(release)) as desk:
                left = iter(range(last))

                def interrupted(*given: Any, left: Iterator[int] = left, **more: Any) -> None:
                    if next(left, None) is None:
                        raise KeyboardInterrupt
                    load(*given, **more)

                with suppress(KeyboardInterrupt), patch.object(DuckDB, "load", interrupted):
                    desk.ask(f"SELECT SUM(pay) FROM microdata WHERE {condition}")
                assert desk.ask(f"SELECT SUM(pay) FROM microdata WHERE {condition}").rows()


def test_many_runs_are_left_to_others() -> None:
    ranks = Ranks("r", 100, 10)
    assert ranks.hits([True] * 100) is not None
    assert ranks.hits([False] * 100) is not None
    assert ranks.hits([number % 2 == 0 for number in range(2 * MOST_RUNS)]) is not None
    assert ranks.hits([number % 2 == 0 for number in range(2 * MOST_RUNS + 2)]) is None
