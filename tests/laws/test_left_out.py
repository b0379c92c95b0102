"""Laws: low and high hold for the whole table, with the rows that suppression left out of the release."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from itertools import chain, combinations, combinations_with_replacement, permutations, product
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from discreet import Policy, publish, read
from discreet.answer.left_out import LeftOut
from discreet.answer.session import Session
from discreet.publication.publish import publish_groups
from discreet.release import Release
from discreet.release.manifest import Promise
from laws.questions import random_crowd, random_question
from laws.worlds import Question

MEASURES = ("COUNT(*)", "AVG(s)", "MIN(s)", "MAX(s)")
CONDITIONS = ("TRUE", "a = 1", "a > 1", "a = 2 AND s >= 3", "s = 5", "a = 77")
QUESTIONS = [f"SELECT {', '.join(MEASURES)} FROM microdata WHERE {condition}" for condition in CONDITIONS[:4]]
BY_KEY = "SELECT a, COUNT(*), MIN(s) FROM microdata GROUP BY a"

Row = tuple[int, int]


def suppressing(share: float, publication: str = "anatomy", **more: Any) -> Policy:
    values: dict[str, Any] = {"quasi": ["a"], "sensitive": "s", "guarantee": {"k": 2}, "ordered": ["a"], **more}
    return Policy(publication=publication, partition="full_domain", options={"suppression": share}, **values)


def released(rows: Sequence[Row], groups: Sequence[int], policy: Policy, to: Path) -> Release:
    """The release of rows in these groups; those of group -1 are suppressed."""
    with closing(read(as_table(rows))) as private:
        codes = private.codes("s")
        return publish_groups(private, policy, codes, np.array(groups, np.int32), to=to)


def as_table(rows: Sequence[Row]) -> pa.Table:
    return pa.table({"a": pa.array([a for a, _ in rows], pa.int64()), "s": pa.array([s for _, s in rows], pa.int64())})


def true_answers(rows: pa.Table, sql: str) -> list[tuple[Any, ...]]:
    with duckdb.connect(config={"threads": "1"}) as connection:
        connection.register("microdata", rows)
        return connection.execute(sql).fetchall()


def ends(session: Session, sql: str) -> list[tuple[list[Any], list[tuple[Any, Any]]]]:
    """The keys and the bounds of every measure, row by row."""
    answer = session.ask(sql)
    keys = [name for name in answer.columns if not name.endswith(("_stderr", "_low", "_high"))]
    keys = [name for name in keys if f"{name}_low" not in answer.columns]
    lows = [name for name in answer.columns if name.endswith("_low")]
    return [
        ([row[key] for key in keys], [(row[low], row[f"{low[:-4]}_high"]) for low in lows]) for row in answer.rows()
    ]


def holds(value: Any, bounds: tuple[Any, Any]) -> bool:
    """An end that is left empty is none."""
    low, high = bounds
    return value is None or ((low is None or low <= value) and (high is None or value <= high))


@pytest.mark.slow
@pytest.mark.parametrize("publication", ["anatomy", "generalization"])
def test_bounds_hold_whichever_rows_were_suppressed(tmp_path: Path, publication: str) -> None:
    """Of a table of five rows any two, one or none are suppressed; each release must allow for the whole table."""
    rows = [(1, 5), (1, 3), (2, 3), (2, -4), (3, 9)]
    removed = list(chain.from_iterable(combinations(range(5), many) for many in range(3)))
    truths = {sql: true_answers(as_table(rows), sql)[0] for sql in QUESTIONS}
    missed = 0
    for number, gone in enumerate(removed):
        groups = [-1 if row in gone else 0 for row in range(5)]
        release = released(rows, groups, suppressing(0.4, publication), tmp_path / f"{number}")
        with Session(release, accelerate=number % 2 == 0) as session:  # boxes are left to the plan
            for sql in QUESTIONS:
                [(_, bounds)] = ends(session, sql)
                assert all(map(holds, truths[sql], bounds)), (gone, sql, bounds)
                missed += bounds[0][1] - LeftOut.of(release.promise).most < truths[sql][0]
    assert missed > 0  # without them the truth would lie outside


def worlds(shown: Sequence[Sequence[Row]], more: int) -> Iterator[list[Row]]:
    """Every table with these groups in any pairing, and up to so many rows besides, with values nobody shows too."""
    pairings = [
        [list(zip([a for a, _ in group], order, strict=True)) for order in permutations([s for _, s in group])]
        for group in shown
    ]
    anybody = list(product((1, 2, 77), (-99, 3, 5, 99)))
    for parts in product(*pairings):
        for many in range(more + 1):
            for others in combinations_with_replacement(anybody, many):
                yield [*chain.from_iterable(parts), *others]


@pytest.mark.parametrize("accelerate", [False, True])
def test_bounds_include_rows_left_out(tmp_path: Path, *, accelerate: bool) -> None:
    """Low and high of COUNT, the high of MIN and the low of MAX are the extremes over all tables; others are empty."""
    groups: list[list[Row]] = [[(1, 5), (2, 3), (1, 3)], [(2, 4), (2, 5)]]
    rows = list(chain.from_iterable(groups))
    release = released(rows, [0, 0, 0, 1, 1], suppressing(0.3), tmp_path / "r")
    assert LeftOut.of(release.promise).most == 2
    every, session = list(worlds(groups, 2)), Session(release, accelerate=accelerate)
    for condition in CONDITIONS:
        sql = f"SELECT COUNT(*), MIN(s), MAX(s), SUM(s) FROM microdata WHERE {condition}"
        [(_, [count, least, greatest, total])] = ends(session, sql)
        found = [matching(world, condition) for world in every]
        assert count == (min(map(len, found)), max(map(len, found))), condition
        certain = count[0] > 0
        assert least == (None, max(map(min, found)) if certain else None), condition
        assert greatest == (min(map(max, found)) if certain else None, None), condition
        assert total == (None, None)
    session.close()


def matching(world: Sequence[Row], condition: str) -> list[int]:
    """The values of the rows that match, worked out here."""
    tests = {
        "TRUE": lambda a, s: True,
        "a = 1": lambda a, s: a == 1,
        "a > 1": lambda a, s: a > 1,
        "a = 2 AND s >= 3": lambda a, s: a == 2 and s >= 3,
        "s = 5": lambda a, s: s == 5,
        "a = 77": lambda a, s: a == 77,
    }
    return [s for a, s in world if tests[condition](a, s)]


@pytest.mark.parametrize("seed", range(6))
def test_bounds_contain_the_truth_of_the_whole_table(seed: int) -> None:
    """What `full_domain` suppresses by itself, with random questions."""
    rng = Random(seed)  # noqa: S311 - a table to try, not a secret
    case = random_crowd(rng, rng.randint(60, 200), missing=False)
    names = [column.name for column in case.quasi]
    policy = suppressing(0.3, quasi=names, ordered=names, sensitive=case.sensitive.name, guarantee={"k": 2})
    with TemporaryDirectory() as folder, closing(publish(case.table, policy, to=Path(folder) / "r", seed=1)) as release:
        assert release.suppressed <= LeftOut.of(release.promise).most
        ways = [Session(release, accelerate=accelerate) for accelerate in (False, True)]
        for keys in (False, True, False, True):
            question: Question = random_question(rng, case.quasi, case.sensitive, keys=keys)
            width = len(question.keys)
            truth = {row[:width]: row[width:] for row in true_answers(case.table, question.sql)}
            for session in ways:
                for key, bounds in ends(session, question.sql):
                    values = truth.get(tuple(key), (None,) * len(bounds))
                    assert all(map(holds, values, bounds)), (question.sql, key, values, bounds)
        for session in ways:
            session.close()


@pytest.mark.parametrize(
    ("rows", "share", "most"),
    [(6, 0.2, 1), (8, 0.2, 2), (7, 0.2, 1), (93, 0.07, 7), (92, 0.07, 6), (5, 0.5, 5), (10, 1.0, None), (3, 0.0, 0)],
)
def test_most_is_the_largest_number_that_the_share_allows(rows: int, share: float, most: int | None) -> None:
    told = {"format": 1, "publication": "anatomy", "partition": "full_domain", "guarantee": {"k": 2}, "table": "t"}
    names = {"quasi": ["a"], "sensitive": "s", "group": "g", "count": "c", "row": "r", "missing_sensitive": "error"}
    promise = Promise.model_validate(
        {**told, **names, "rows": rows, "groups": 1, "for_publication": True, "suppression": share or None}
    )
    assert LeftOut.of(promise).most == most
    if most is not None:
        hundredths = round(100 * share)
        assert max(u for u in range(99) if 100 * u <= hundredths * (rows + u)) == most


def test_what_is_told_of_rows_left_out(tmp_path: Path) -> None:
    rows = [(1, 5), (2, 3), (1, 3), (2, 4)]
    release = released(rows, [0, 0, 0, 0], suppressing(0.2), tmp_path / "r")
    about, average, least = release.ask("SELECT a, COUNT(*), AVG(s), MIN(s) FROM microdata GROUP BY a").notes
    assert about.startswith("up to 1 of the table's rows may have been left out; estimates are about the others")
    assert about.endswith("the high of a count includes them; keys that only they have are not listed")
    assert average == "avg_s: no bounds, since the rows left out may hold any value"
    assert least.endswith("may hold any value; high where a row that is shown is certain to match")
    release.close()
    everything = released(rows, [0, 0, 0, 0], suppressing(1.0), tmp_path / "all")
    answer = everything.ask("SELECT COUNT(*) FROM microdata")
    assert answer.rows() == [{"count": 4, "count_stderr": 0.0, "count_low": 4, "count_high": None}]
    assert answer.notes[0].startswith("any number of the table's rows may have been left out")
    assert "a count has no high" in answer.notes[0]
    everything.close()


def test_explain_prints_the_same_bounds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    release = released([(1, 5), (2, 3), (1, 3), (2, 4)], [0, 0, 0, 0], suppressing(0.2), tmp_path / "r")
    with closing(release):
        script, answer = release.explain(BY_KEY), release.ask(BY_KEY)
        monkeypatch.chdir(release.path)
        with duckdb.connect() as connection:
            found = connection.execute(script).fetchall()
    assert [row[: len(answer.columns)] for row in found] == [tuple(row.values()) for row in answer.rows()]
    assert [row["count_high"] for row in answer.rows()] == [3, 3]


def test_who_is_not_in_the_release_is_told(tmp_path: Path) -> None:
    """A missing sensitive value keeps a row out whatever the share: the answer says whom it is about."""
    table = pa.table({"a": [1, 1, 2, 2, 2], "s": [1, 2, 3, 4, None]})
    policy = Policy(quasi=["a"], sensitive="s", guarantee={"k": 2}, missing_sensitive="withhold")
    with closing(publish(table, policy, to=tmp_path / "r")) as release:
        assert release.ask("SELECT COUNT(*) FROM microdata").notes == (
            "rows without a `s` were left out; the answer and its bounds are about the others",
        )
