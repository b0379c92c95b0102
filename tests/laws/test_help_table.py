"""Law: how an answer is computed changes nothing: looked up in either form of the help table, or worked out anew."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest

from discreet import Policy, publish
from discreet.answer import Session, help_table
from discreet.release import Release

ROWS = 3_000
MEASURES = "SUM(pay) AS s, AVG(pay) AS a, MIN(pay) AS least, MAX(pay) AS most, COUNT(pay) AS n"
OF_DATES = "MIN(pay) AS least, MAX(pay) AS most, COUNT(pay) AS n"
ASKED = (  # conditions and keys
    ("TRUE", None),
    ("age BETWEEN 30 AND 50", None),
    ("age = 33 AND sex = 'f'", "town"),
    ("town IS NULL OR age > 60", "sex, age // 10"),
    ("age > 200", None),
)
PARTITIONS = ("tightest", "min_sum", "random", "deal", "local")


def chance(*, seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


def pays() -> dict[str, tuple[pa.Array, float]]:
    """Sensitive columns, each with an e that suits it; every row a value of its own, or long runs of equal ones."""
    few = chance(seed=1).integers(-20, 20, ROWS)
    cents = [Decimal(cell).scaleb(-2) for cell in few.tolist()]
    days = [date(2020, 1, 1) + timedelta(days=int(day)) for day in chance(seed=2).integers(0, 300, ROWS)]
    return {
        "different integers": (pa.array(chance(seed=3).permutation(ROWS) - ROWS // 2), 20),
        "few integers": (pa.array(few), 5),
        "floats": (pa.array(chance(seed=4).normal(0, 1e4, ROWS)), 100.5),
        "few floats": (pa.array(few / 8), 0.75),
        "decimals": (pa.array(cents, pa.decimal128(12, 2)), 0.05),
        "dates": (pa.array(days), 3),
    }


def people(pay: pa.Array) -> pa.Table:
    rng = chance(seed=5)
    town = pa.array(rng.choice(["Ulm", "Bonn", "Kiel"], ROWS), mask=rng.random(ROWS) < 0.1)
    return pa.table({"age": rng.integers(18, 90, ROWS), "sex": rng.choice(["f", "m"], ROWS), "town": town, "pay": pay})


@contextmanager
def desk(release: Release, form: str | None) -> Iterator[Session]:
    """A desk whose help table has the given form, or that has none."""
    with (
        patch.object(help_table, "REPEATS", 0 if form == "compact" else 10**9),
        closing(Session(release)) as made,
    ):
        if form is None:
            made._help = None
        assert (made._help and made._help.form) == form
        yield made


def question(measures: str, where: str, keys: str | None) -> str:
    if keys is None:
        return f"SELECT {measures} FROM microdata WHERE {where}"
    return f"SELECT {keys}, {measures} FROM microdata WHERE {where} GROUP BY {keys}"


def agree(one: list[dict[str, Any]], other: list[dict[str, Any]]) -> bool:
    """Whether rows are the same but for rounding: sums of thousands of numbers that may cancel out."""
    return [*map(len, one)] == [*map(len, other)] and all(
        a == (pytest.approx(b, rel=1e-9, abs=1e-6) if isinstance(b, float) else b)
        for left, right in zip(one, other, strict=True)
        for a, b in zip(left.values(), right.values(), strict=True)
    )


@pytest.mark.parametrize("kind", pays())
def test_both_forms_of_the_help_table_agree(kind: str, tmp_path: Path) -> None:
    """With each other, with the window functions, and with a condition that they must not serve."""
    pay, e = pays()[kind]
    partition = PARTITIONS[list(pays()).index(kind) % len(PARTITIONS)]
    policy = Policy(
        quasi=["age", "sex", "town"],
        sensitive="pay",
        guarantee={"k": 3, "e": e},
        partition=partition,
        publication="permutation",
    )
    release = publish(people(pay), policy, to=tmp_path / "release", seed=1)
    measures = OF_DATES if kind == "dates" else MEASURES
    with desk(release, "full") as full, desk(release, "compact") as compact, desk(release, None) as none:
        for where, keys in ASKED:
            asked = question(measures, where, keys)
            served, unserved = full.ask(asked), full.ask(question(measures, f"({where}) AND pay IS NOT NULL", keys))
            assert "blocks.block" in served.sql
            assert "blocks.block" not in unserved.sql
            for other in (compact.ask(asked), none.ask(asked), unserved):
                assert agree(served.rows(), other.rows()), asked
                assert served.notes == other.notes, asked


def test_the_form_follows_the_data(tmp_path: Path) -> None:
    """One row per run of equal values where each is held by several people of its group; else one per person."""
    for kind, form in (("different integers", "full"), ("few integers", "compact")):
        pay, e = pays()[kind]
        policy = Policy(
            quasi=["age", "sex", "town"],
            sensitive="pay",
            guarantee={"k": 3, "e": e},
            partition="min_sum",
            publication="permutation",
        )
        release = publish(people(pay), policy, to=tmp_path / form, seed=1)
        with closing(release.session) as made:
            assert (made._help and made._help.form) == form
            table = "blocks.block" if form == "full" else "ASOF"
            assert table in made.ask("SELECT SUM(pay) FROM microdata WHERE age > 40").sql


@pytest.mark.parametrize("form", ["full", "compact"])
def test_whole_numbers_stay_whole(form: str, tmp_path: Path) -> None:
    """Where every row of a group matches, nothing is left open: low and high are the sum, to the digit."""
    table = pa.table({"age": list(range(49)), "pay": [0] * 48 + [1]})
    policy = Policy(
        quasi=["age"],
        sensitive="pay",
        guarantee={"k": 2, "e": 1},
        partition="min_sum",
        publication="permutation",
    )
    release = publish(table, policy, to=tmp_path / "release")
    assert release.promise.groups == 1
    with desk(release, form) as made:
        [row] = made.ask("SELECT SUM(pay) AS x, AVG(pay) AS a FROM microdata").rows()
    assert (row["x"], row["x_stderr"], row["x_low"], row["x_high"]) == (1, 0, 1, 1)
    assert row["a_low"] == row["a"] == row["a_high"] == 1 / 49


@pytest.mark.parametrize(
    ("values", "form", "bounds"),
    [
        pytest.param([-1e17, 1.0, 2.0], "full", (-1e17, 2.0)),
        pytest.param([-1e17, 1.0, 2.0], "compact", (-1e17, 2.0)),
        pytest.param([1.0, 1e17, 3e17], "full", (1.0, 3e17)),
        pytest.param([1.0, 1e17, 3e17], "compact", (1.0, 3e17)),
        pytest.param([-(10**17), 1, 2], "full", (-1e17, 2.0)),
        pytest.param([-(10**17), 1, 2], "compact", (-1e17, 2.0)),
    ],
    ids=str,
)
def test_small_values_are_not_lost_beside_huge_ones(
    values: list[Any], form: str, bounds: tuple[float, float], tmp_path: Path
) -> None:
    """A bound that is too narrow by rounding excludes the truth."""
    table = pa.table({"age": [1, 2, 3], "pay": values})
    policy = Policy(
        quasi=["age"], sensitive="pay", guarantee={"k": 3, "e": 1}, partition="min_sum", publication="permutation"
    )
    release = publish(table, policy, to=tmp_path / "release")
    with desk(release, form) as made:
        [row] = made.ask("SELECT SUM(pay) AS x FROM microdata WHERE age = 2").rows()
    assert (row["x_low"], row["x_high"]) == bounds
