"""The compiled pass where random tables seldom go: huge and infinite values, many values, many keys, wrong order."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet import Policy, publish
from discreet.answer.accelerate import accelerator, grouped, labels
from discreet.answer.accelerate.accelerator import Choice
from discreet.answer.question.parse import read_question
from discreet.answer.session import Session
from discreet.publication.publish import publish_groups
from discreet.release import Release
from discreet.table import read
from discreet.values import coded

ROWS = 400
MEASURES = "COUNT(*) AS n, SUM(pay) AS s, AVG(pay) AS a, MIN(pay) AS least, MEDIAN(pay) AS m"


def people(pay: np.ndarray) -> pa.Table:
    rng = np.random.default_rng(7)
    return pa.table(
        {
            "age": rng.integers(0, 80, ROWS),
            "weight": rng.random(ROWS) * 100,
            "town": rng.choice(["Ulm", "Bonn", "Kiel"], ROWS),
            "pay": pay,
        }
    )


def released(table: pa.Table, folder: Path, *, size: int, publication: str = "anatomy") -> Release:
    """Groups of so many rows in a row."""
    policy = Policy(
        quasi=table.column_names[:-1],
        sensitive="pay",
        guarantee={"k": 2},
        partition="deal",
        publication=publication,
    )
    with read(table) as private:
        groups = (np.arange(len(table)) // size).astype(np.int32)
        return publish_groups(private, policy, private.codes("pay"), groups, to=folder / "release")


def served(session: Session, sql: str) -> bool:
    """Whether the pass answers."""
    way = session.sealed.accelerator
    assert way is not None
    return way.answers(read_question(sql, session.release.promise)) is not None


def agree(release: Release, sql: str, *, by_pass: bool = True) -> list[dict[str, Any]]:
    """What both ways answer."""
    with Session(release, accelerate=True) as fast, Session(release, accelerate=False) as plain:
        assert served(fast, sql) == by_pass
        found, wanted = fast.ask(sql).rows(), plain.ask(sql).rows()
    assert len(found) == len(wanted)
    for one, other in zip(found, wanted, strict=True):
        assert all(
            one[name] == other[name] or one[name] == pytest.approx(other[name], rel=1e-9, abs=1e-9) for name in one
        )
    return found


@pytest.mark.parametrize("values", [[-1e17, 1.0, 2.0], [1.0, 1e17, 3e17], [-(10**17), 1, 2]], ids=str)
def test_small_values_are_not_lost_beside_huge_ones(values: list[Any], tmp_path: Path) -> None:
    release = released(pa.table({"age": [1, 2, 3], "pay": values}), tmp_path, size=3)
    [row] = agree(release, "SELECT SUM(pay) AS x FROM microdata WHERE age = 2")
    assert (row["x_low"], row["x_high"]) == (min(values), max(values))


def test_expressions_that_sql_at_large_writes_alike_are_kept_apart(tmp_path: Path) -> None:
    """`//` cuts off, a cast rounds; what is kept of one is not what the other means."""
    release = released(people(np.random.default_rng(1).integers(0, 9, ROWS)), tmp_path, size=4)
    cut, rounded = "{} // 2", "CAST({} / 2 AS BIGINT)"
    questions = [
        sql.format(each.format(column))
        for column, sql in (
            ("pay", "SELECT SUM({}) AS x FROM microdata WHERE age > 20"),
            ("pay", "SELECT COUNT(*) AS x FROM microdata WHERE age > 20 AND {} = 2"),
            ("age", "SELECT COUNT(*) AS x FROM microdata WHERE {} = 20 AND pay > 2"),
            ("age", "SELECT {0} AS k, SUM(pay) AS x FROM microdata WHERE pay > 2 GROUP BY {0}"),
        )
        for each in (cut, rounded, cut)
    ]
    both = f"SELECT SUM({cut.format('pay')}) AS x, SUM({rounded.format('pay')}) AS y FROM microdata WHERE age > 20"
    with Session(release, accelerate=True) as fast, Session(release, accelerate=False) as plain:
        for sql in (*questions, both):
            for one, other in zip(fast.ask(sql).rows(), plain.ask(sql).rows(), strict=True):
                assert one == pytest.approx(other)


def test_what_cannot_be_added_up_is_left_to_the_plan(tmp_path: Path) -> None:
    release = released(pa.table({"age": [1, 2, 3, 4], "pay": [1.0, 2.0, 4.0, float("inf")]}), tmp_path, size=2)
    [row] = agree(release, "SELECT SUM(pay) AS s FROM microdata WHERE age < 2", by_pass=False)
    assert row["s"] == 1.5
    agree(release, "SELECT MAX(pay) AS m, COUNT(*) AS n FROM microdata WHERE age > 2")


def test_an_error_of_rows_that_do_not_match_is_none(tmp_path: Path) -> None:
    release = released(pa.table({"age": [0, 2, 3, 4], "pay": [1, 2, 4, 8]}), tmp_path, size=2)
    agree(release, "SELECT SUM(LN(age)) AS s FROM microdata WHERE age > 0 AND pay < 5", by_pass=False)


@pytest.mark.parametrize("publication", ["anatomy", "permutation"])
@pytest.mark.parametrize("size", [4, 40, ROWS])
def test_many_values_and_keys(publication: str, size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Columns that are not coded, combinations that are too many, keys that are numbered anew."""
    monkeypatch.setattr(coded, "SAMPLE", 64)
    monkeypatch.setattr(grouped, "MOST_COMBINATIONS", 100)
    monkeypatch.setattr(labels, "SPARSE", 4)
    pay = np.random.default_rng(1).integers(-50, 50, ROWS)
    release = released(people(pay), tmp_path, size=size, publication=publication)
    wheres = ("weight > 70.5", "age < 40 OR town = 'Ulm'", "weight > 30 AND LENGTH(town) * age > 99 AND pay <> 7")
    for where in wheres:
        for keys in ("town", "age // 10, town", "ROUND(weight / 20), pay % 2"):
            agree(release, f"SELECT {keys}, {MEASURES} FROM microdata WHERE {where} GROUP BY {keys}")
    agree(release, "SELECT AVG(weight) AS w, MAX(age) AS a FROM microdata WHERE pay > 0 AND age < 70")


def test_rows_that_do_not_lie_in_the_order_of_groups_are_left_to_the_plan(tmp_path: Path) -> None:
    release = released(people(np.arange(ROWS)), tmp_path, size=4)
    file = release.file("qit")
    rows = pq.read_table(file)
    pq.write_table(rows.take(np.arange(ROWS)[::-1]), file)
    agree(release, f"SELECT {MEASURES} FROM microdata WHERE age < 40", by_pass=False)


def test_the_pass_is_loaded_when_it_pays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    policy = Policy(quasi=["age", "weight", "town"], sensitive="pay", guarantee={"l": 2}, partition="deal")
    release = publish(people(np.arange(ROWS)), policy, to=tmp_path / "release")
    exact, other = "SELECT COUNT(*) FROM microdata WHERE age < 9", "SELECT SUM(pay) FROM microdata WHERE age < 9"
    for few, many, asked, loaded in (
        (ROWS + 1, ROWS + 1, [other, other], False),
        (ROWS, ROWS + 1, [other], False),
        (ROWS, ROWS + 1, [other, other], True),
        (ROWS, ROWS, [other], True),
        (ROWS, ROWS, [exact], False),
        (ROWS, ROWS, [exact, exact], True),
    ):
        monkeypatch.setattr(accelerator, "FEW", few)
        monkeypatch.setattr(accelerator, "MANY", many)
        with Session(release) as session:
            for sql in asked:
                session.ask(sql)
            assert isinstance(session.sealed.accelerator, Choice)
            assert (session.sealed.accelerator._pass is not None) == loaded
