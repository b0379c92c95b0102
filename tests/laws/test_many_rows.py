"""Law: answers about thousands of rows equal what is added up group by group, value by value, without SQL."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, suppress
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any
from unittest.mock import patch

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from discreet import Policy, publish
from discreet.answer import Session
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
SEVERAL = (
    "age < 40 AND smokes",
    "smokes OR town = 'Ulm'",
    "smokes IS NULL AND town IS NULL",
    "LENGTH(town) * age > 99",
    "age = 33 AND smokes",
    "town IS NULL OR age > 60",
    "age > 200",
)
KEYS = ("smokes", "smokes, town", "age // 30", "town IS NULL", "smokes, age // 10")
ASKED = [  # keys, conditions on the quasi-identifiers, and on the sensitive column
    *(
        (None, condition, also)
        for column, conditions in CONDITIONS.items()
        for condition in conditions
        for also in ("TRUE", "pay < 2")[: 1 + (column in {"town", "smokes"})]
    ),
    *((None, condition, "TRUE") for condition in SEVERAL),
    *(
        (keys, condition, also)
        for keys in KEYS
        for condition, also in (
            ("TRUE", "TRUE"),
            ("age < 40", "TRUE"),
            ("age > 200", "TRUE"),
            ("smokes", "pay < 2"),
            ("age > 30", "pay IS NOT NULL"),
        )
    ),
]
MEASURES = "COUNT(pay) AS n, SUM(pay) AS s, AVG(pay) AS a, MIN(pay) AS least, MAX(pay) AS most"


def chance(*, seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


def people(pay: Any) -> pa.Table:
    rows, rng = len(pay), chance(seed=7)
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


def oracle(release: Release, keys: str | None, where: str, also: str) -> dict[tuple[Any, ...], dict[str, Any]]:
    """By key: the bounds of every measure, and the estimates of COUNT and SUM, from each group's sorted values."""
    quasi = "permuted" if release.promise.publication == "permutation" else "qit"
    with duckdb.connect() as engine:
        files = {name: f"'{release.file(name)}'" for name in (each.name for each in release.manifest.resources)}
        rows = files[quasi] if quasi == "qit" else f"{files['permuted']} JOIN {files['mapping']} USING (row)"
        names = keys or "1"
        hits = engine.execute(f'SELECT {names}, "group", COUNT(*) FROM {rows} WHERE {where} GROUP BY ALL').fetchall()
        values = (
            f'SELECT "group", pay, count FROM {files["st"]}'
            if quasi == "qit"
            else f'SELECT "group", pay, 1 FROM {rows}'
        )
        held: dict[int, list[Any]] = {}
        sizes: dict[int, int] = {}
        for group, value, count, counts in engine.execute(f"SELECT *, {also} FROM ({values}) ORDER BY pay").fetchall():
            sizes[group] = sizes.get(group, 0) + count
            held.setdefault(group, []).extend([value] * count if counts and value is not None else [])
    found: dict[tuple[Any, ...], dict[str, Any]] = {}
    for *key, group, drawn in hits:
        total, size, mine = len(held[group]), sizes[group], held[group]
        forced, most = max(0, drawn + total - size), min(drawn, total)
        row = found.setdefault(
            tuple(key) if keys else (),
            {
                **dict.fromkeys(("low", "high", "n", "s", "s_low", "s_high"), 0),
                **{name: [] for name in ("near", "far", "certain_least", "certain_most")},
            },
        )
        row["low"], row["high"], row["n"] = row["low"] + forced, row["high"] + most, row["n"] + drawn * total / size
        if not total or not most:
            continue
        row["near"].append(mine[0])
        row["far"].append(mine[-1])
        if forced:
            row["certain_least"].append(mine[total - forced])
            row["certain_most"].append(mine[forced - 1])
        if not isinstance(mine[0], date):
            numbers = [float(value) for value in mine]
            row["s"] += drawn * sum(numbers) / size
            row["s_low"] += min(sum(numbers[:taken]) for taken in range(forced, most + 1))
            row["s_high"] += max(sum(numbers[total - taken :]) for taken in range(forced, most + 1))
    return found


def check(session: Session, keys: str | None, where: str, also: str, measures: str = MEASURES) -> None:
    shown, by = (f"{keys}, ", f" GROUP BY {keys}") if keys else ("", "")
    asked = f"SELECT {shown}{measures} FROM microdata WHERE ({where}) AND ({also}){by}"
    width = keys.count(",") + 1 if keys else 0
    answer = {tuple(list(row.values())[:width]): row for row in session.ask(asked).rows()}
    expected = {key: row for key, row in oracle(session.release, keys, where, also).items() if row["high"] or not keys}
    assert answer.keys() == (expected.keys() if keys else {()}), asked
    for key, wanted in expected.items():
        row = answer[key]
        assert (row["n_low"], row["n_high"]) == (wanted["low"], wanted["high"]), (asked, key)
        assert row["n"] == pytest.approx(wanted["n"]), (asked, key)
        if not wanted["near"]:
            assert row["least_low"] is None, (asked, key)
            continue
        least, most = min(wanted["near"]), max(wanted["far"])
        assert (row["least_low"], row["most_high"]) == (least, most), (asked, key)
        assert row["least_high"] == min(wanted["certain_least"], default=most), (asked, key)
        assert row["most_low"] == max(wanted["certain_most"], default=least), (asked, key)
        if "SUM" not in measures:
            continue
        close = {"rel": 1e-9, "abs": 1e-6}
        for end in ("s", "s_low", "s_high"):
            assert float(row[end]) == pytest.approx(wanted[end], **close), (asked, key, end)
        if wanted["low"] == wanted["high"]:
            for end, of in (("a", "s"), ("a_low", "s_low"), ("a_high", "s_high")):
                assert float(row[end]) == pytest.approx(wanted[of] / wanted["low"], **close), (asked, key, end)
        else:
            assert row["a_low"] <= row["a"] <= row["a_high"], (asked, key)


@pytest.mark.parametrize("sizes", ["few rows alike", "few rows unlike", "hundreds of rows"])
def test_answers_equal_what_is_added_up_by_group(sizes: str, tmp_path: Path) -> None:
    few = sizes != "hundreds of rows"
    unlike = chance(seed=8).integers(-40, 40, 3_000)
    policy = Policy(
        quasi=[*CONDITIONS],
        sensitive="pay",
        guarantee={"l": 5} if few else {"k": 700, "e": 0},
        partition="deal" if few else "min_sum",
        publication="anatomy" if few else "permutation",
    )
    pay = unlike if sizes == "few rows unlike" else np.arange(3_000) % (5 if few else 3_000)
    with publish(people(pay), policy, to=tmp_path / "release", seed=1).session as session:
        for keys, where, also in ASKED if sizes == "few rows alike" else ASKED[few::2]:
            check(session, keys, where, also)


def pays() -> dict[str, tuple[pa.Array, float]]:
    """Sensitive columns, each with an e that suits it; every row a value of its own, or long runs of equal ones."""
    few = chance(seed=1).integers(-20, 20, 3_000)
    cents = [Decimal(cell).scaleb(-2) for cell in few.tolist()]
    days = [date(2020, 1, 1) + timedelta(days=int(day)) for day in chance(seed=2).integers(0, 300, 3_000)]
    return {
        "different integers": (pa.array(chance(seed=3).permutation(3_000) - 1_500), 20),
        "few integers": (pa.array(few), 5),
        "floats": (pa.array(chance(seed=4).normal(0, 1e4, 3_000)), 100.5),
        "few floats": (pa.array(few / 8), 0.75),
        "decimals": (pa.array(cents, pa.decimal128(12, 2)), 0.05),
        "dates": (pa.array(days), 3),
    }


@pytest.mark.parametrize(
    ("kind", "partition"),
    list(zip(pays(), ("tightest", "min_sum", "random", "deal", "local", "tightest"), strict=True)),
)
def test_answers_about_values_of_every_kind(kind: str, partition: str, tmp_path: Path) -> None:
    pay, e = pays()[kind]
    policy = Policy(
        quasi=[*CONDITIONS],
        sensitive="pay",
        guarantee={"k": 3, "e": e},
        partition=partition,
        publication="permutation",
    )
    measures = ", ".join(text for text in MEASURES.split(", ") if kind != "dates" or text[:3] not in {"SUM", "AVG"})
    with publish(people(pay), policy, to=tmp_path / "release", seed=1).session as session:
        every = [(keys, where, also) for keys, where, also in ASKED if "2" not in also]
        asked = [each for each in every if each[0] or each[1] in {*SEVERAL, *CONDITIONS["age"]}]
        for keys, where, also in asked[len(kind) % 2 :: 2]:  # the others are asked of another kind
            check(session, keys, where, also, measures)


@pytest.mark.parametrize("most", [24, 255, 256, 65_535, 65_536])
def test_groups_of_any_size(most: int, tmp_path: Path) -> None:
    """Two groups of so many rows, all of which may be hit; the first has them all with one value."""
    rows = 2 * most
    table = pa.table({"age": np.arange(rows) % 7 * (np.arange(rows) >= most), "pay": np.arange(rows) % most})
    policy = Policy(quasi=["age"], sensitive="pay", guarantee={"l": 2}, partition="deal")
    with read(table) as private:
        groups = (np.arange(rows) >= most).astype(np.int32)
        release = publish_groups(private, policy, private.codes("pay"), groups, to=tmp_path / "release")
    with release.session as session:
        for condition in ("age >= 0", "age = 0", "age > 0", "age IN (1, 3, 6)", "age > 6"):
            check(session, None, condition, "TRUE")


def test_whole_numbers_stay_whole(tmp_path: Path) -> None:
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
    [row] = release.ask("SELECT SUM(pay) AS x, AVG(pay) AS a FROM microdata").rows()
    assert (row["x"], row["x_stderr"], row["x_low"], row["x_high"]) == (1, 0, 1, 1)
    assert row["a_low"] == row["a"] == row["a_high"] == 1 / 49


@pytest.mark.parametrize(
    ("values", "bounds"),
    [
        pytest.param([-1e17, 1.0, 2.0], (-1e17, 2.0)),
        pytest.param([1.0, 1e17, 3e17], (1.0, 3e17)),
        pytest.param([-(10**17), 1, 2], (-1e17, 2.0)),
    ],
    ids=str,
)
def test_small_values_are_not_lost_beside_huge_ones(
    values: list[Any], bounds: tuple[float, float], tmp_path: Path
) -> None:
    """A bound that is too narrow by rounding excludes the truth."""
    table = pa.table({"age": [1, 2, 3], "pay": values})
    policy = Policy(
        quasi=["age"], sensitive="pay", guarantee={"k": 3, "e": 1}, partition="min_sum", publication="permutation"
    )
    release = publish(table, policy, to=tmp_path / "release")
    [row] = release.ask("SELECT SUM(pay) AS x FROM microdata WHERE age = 2").rows()
    assert (row["x_low"], row["x_high"]) == bounds


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
    """And need not be a boolean."""
    pay = chance(seed=1).permutation(3_000) * 10
    table = pa.table({"age": np.arange(3_000) % 60, "flag": np.arange(3_000) % 2 == 0, "pay": pay})
    table = table.set_column(1, "flag", table["flag"].cast(pa.string()))
    policy = Policy(quasi=["age", "flag"], sensitive="pay", guarantee={"l": 3}, partition="deal")
    release = publish(table, policy, to=tmp_path / "release")
    [half] = release.ask("SELECT COUNT(*) AS n FROM microdata WHERE age >= 0 AND pay * 2 >= 30000").rows()
    assert half["n_low"] == half["n_high"] == 1_500
    [even] = release.ask("SELECT COUNT(*) AS n, SUM(pay) AS s FROM microdata WHERE flag").rows()
    assert even["n"] == 1_500


def test_a_session_outlives_an_interrupt(tmp_path: Path) -> None:
    pay = chance(seed=1).integers(0, 500, 600)
    table = pa.table({"age": np.arange(600) % 9, "zip": np.arange(600), "pay": pay})
    policy = Policy(quasi=["age", "zip"], sensitive="pay", guarantee={"l": 3}, partition="deal")
    release = publish(table, policy, to=tmp_path / "release")
    load = DuckDB.load
    for condition in ("age < 4", "zip < 300"):
        for last in range(1, 7):
            with closing(Session(release)) as session:
                left = iter(range(last))

                def interrupted(*given: Any, left: Iterator[int] = left, **more: Any) -> None:
                    if next(left, None) is None:
                        raise KeyboardInterrupt
                    load(*given, **more)

                with suppress(KeyboardInterrupt), patch.object(DuckDB, "load", interrupted):
                    session.ask(f"SELECT SUM(pay) FROM microdata WHERE {condition}")
                assert session.ask(f"SELECT SUM(pay) FROM microdata WHERE {condition}").rows()
