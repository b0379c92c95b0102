"""Law: hits are the same however they are counted: by ranks, in slots, or row by row."""

from __future__ import annotations

from contextlib import closing
from datetime import date, timedelta
from itertools import chain
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest

from discreet import Policy, publish
from discreet.answer import Desk
from discreet.answer.ranks import MOST_RUNS, PER_WORD, Ranks
from discreet.release import Release

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
MEASURES = "COUNT(*) AS n, SUM(pay) AS s, AVG(pay) AS a, MIN(pay) AS least, MEDIAN(pay) AS middle"
QUESTIONS = [
    f"SELECT {MEASURES} FROM microdata WHERE ({condition}){also}"
    for condition in chain(*CONDITIONS.values())
    for also in ("", " AND pay < 2", " AND pay IN (1, 3)")
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
        patch("discreet.answer.slots.MOST_PLACES", 24 if way == "slots" else 0),
        closing(Desk(release)) as desk,
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
    assert sum("ranks_" in sql for _, sql in ranks.values()) > len(QUESTIONS) / 2
    assert all(("slots_" in sql) == few for _, sql in slots.values())


@pytest.mark.parametrize("most", [200, 255, 256, 65_535, 65_536])
def test_a_rank_has_room_for_the_largest_group(most: int) -> None:
    ranks = Ranks("r", 100, most)
    assert most < 2**ranks.bits
    assert ranks.bits * PER_WORD[ranks.bits] < 64
    assert len(ranks.words) * PER_WORD[ranks.bits] >= 100


def test_many_runs_are_left_to_others() -> None:
    ranks = Ranks("r", 100, 10)
    assert ranks.hits([True] * 100) is not None
    assert ranks.hits([False] * 100) is not None
    assert ranks.hits([number % 2 == 0 for number in range(2 * MOST_RUNS)]) is not None
    assert ranks.hits([number % 2 == 0 for number in range(2 * MOST_RUNS + 2)]) is None
