"""Law: answers about columns, or blocks of columns, that were shuffled apart equal what every permutation gives."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import permutations, product
from math import factorial, prod
from pathlib import Path
from random import Random
from typing import TypeAlias

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from discreet import Policy, publish, read
from discreet.errors import QueryError
from discreet.publication.publish import publish_groups
from laws.law import law
from laws.questions import WORLDS, Case, Column, random_case, random_question
from laws.questions import _condition as random_condition
from laws.test_answers_brute_force import NUMBERS, OTHERS, _check
from laws.worlds import Measure, Question, Worlds

RANDOM = st.randoms(use_true_random=True)
Blocks: TypeAlias = Sequence[tuple[str, ...]]


@dataclass(frozen=True)
class Shuffled(Worlds):
    """Tables in which the rows of every block but the first were permuted inside each group: `held` is their shape."""

    def _spread(self, pairs: np.ndarray) -> np.ndarray:
        return pairs.reshape(self.held.shape)


def shuffled(table: pa.Table, groups: tuple[int, ...], blocks: Blocks | None = None) -> Shuffled:
    """All of these tables, one after the other; each permutation is as likely as any other. A column is a block."""
    blocks = blocks or [(name,) for name in table.column_names]
    members = [[row for row, group in enumerate(groups) if group == which] for which in sorted(set(groups))]
    of_column = [list(product(*(permutations(rows) for rows in members))) for _ in blocks[1:]]
    places = np.concatenate(members)
    rows = len(groups)
    worlds = prod(map(len, of_column))
    takes = [np.tile(np.arange(rows), worlds)]
    for which in zip(*product(*of_column), strict=True):
        taken = np.empty((worlds, rows), int)
        taken[:, places] = [np.concatenate(choice) for choice in which]
        takes.append(taken.ravel())
    taken_by = [(name, take) for block, take in zip(blocks, takes, strict=True) for name in block]
    cells = {name: table[name].take(pa.array(take)) for name, take in taken_by}
    at = {"row number": np.repeat(np.arange(worlds), rows), "value number": np.tile(np.arange(rows), worlds)}
    connection = duckdb.connect(config={"threads": "1"})
    every = pa.table({**cells, **at})
    connection.register("every", every)
    connection.execute("CREATE TABLE pairs AS SELECT * FROM every")
    return Shuffled(connection, np.empty((worlds, rows)))


def small_case(rng: Random, kinds: tuple[str, ...]) -> Case:
    """A case with few enough permutations, published with every column shuffled."""
    while True:
        case = replace(random_case(rng, kinds), publication="full_permutation")
        sizes = [case.groups.count(group) for group in set(case.groups)]
        if prod(factorial(size) for size in sizes) ** len(case.quasi) <= WORLDS:
            return case


def small_question(rng: Random, case: Case, *, keys: bool) -> Question:
    """A question whose conditions are about one column each."""
    question = random_question(rng, case.quasi, case.sensitive, keys=keys)
    columns = rng.sample([*case.quasi, case.sensitive], rng.randint(0, 1 + len(case.quasi)))
    parts = [f"({random_condition(rng, [column])})" for column in columns]
    return replace(question, where=" AND ".join(parts) or None)


@law(9)
@given(RANDOM)
def test_shuffled_columns_equal_brute_force(rng: Random) -> None:
    case = small_case(rng, (*NUMBERS, *OTHERS))
    note(str(case))
    ask(case, [small_question(rng, case, keys=keys) for keys in (False, False, True, True)])


def sliced_case(rng: Random, kinds: tuple[str, ...]) -> tuple[Case, Blocks]:
    """A case with few enough permutations of blocks of columns, and the blocks."""
    while True:
        case = replace(random_case(rng, kinds), publication="slicing")
        names = [column.name for column in case.quasi]
        kept = tuple(rng.sample(names, rng.randint(1, len(names))))
        alone = [(name,) for name in names if name not in kept]
        sizes = [case.groups.count(group) for group in set(case.groups)]
        if prod(factorial(size) for size in sizes) ** (1 + len(alone)) <= WORLDS:
            return replace(case, together=(kept,)), [kept, *alone, (case.sensitive.name,)]


def sliced_question(rng: Random, case: Case, blocks: Blocks, *, keys: bool) -> Question:
    """A question whose conditions are about one block each, and may mix the columns of a block."""
    question = random_question(rng, case.quasi, case.sensitive, keys=keys)
    columns = {column.name: column for column in (*case.quasi, case.sensitive)}
    chosen = rng.sample(list(blocks), rng.randint(0, len(blocks)))
    parts = [f"({random_condition(rng, [columns[name] for name in block])})" for block in chosen]
    return replace(question, where=" AND ".join(parts) or None)


@law(9)
@given(RANDOM)
def test_slices_equal_brute_force(rng: Random) -> None:
    case, blocks = sliced_case(rng, (*NUMBERS, *OTHERS))
    note(str(case))
    questions = [sliced_question(rng, case, blocks, keys=keys) for keys in (False, False, True, True)]
    ask(case, questions, blocks)


def test_a_question_inside_a_block_is_told_exactly() -> None:
    table = pa.table({"age": [1, 2, 3, 4], "sex": [1, 1, 2, 2], "zip": [7, 8, 9, 9], "held": [5, 6, 7, 8]})
    age, sex, zipcode, held = (Column.of(name, "integer", [1]) for name in table.column_names)
    case = Case((age, sex, zipcode), held, table, (0, 0, 0, 0), "slicing", (("age", "sex"),))
    with case.released() as release:
        [found] = release.ask("SELECT SUM(age) AS s FROM microdata WHERE age > sex AND sex = 2 OR age = 1").rows()
        assert [found[f"s{end}"] for end in ("", "_stderr", "_low", "_high")] == [8, 0, 8, 8]
        [apart] = release.ask("SELECT COUNT(*) AS n FROM microdata WHERE sex = 2 AND zip = 9").rows()
        assert (apart["n"], apart["n_low"], apart["n_high"]) == (1, 0, 2)
        [either] = release.ask("SELECT COUNT(*) AS n FROM microdata WHERE sex = 2 OR zip = 9").rows()
        assert (either["n"], either["n_low"] <= 2, either["n_high"]) == (
            3,
            True,
            4,
        )  # each has 2 of 4, 0 to 2 in common


def test_a_group_of_equal_rows_is_told_exactly() -> None:
    table = pa.table({"age": [1, 1, 1, 2, 2, 2], "sex": ["f"] * 3 + ["m"] * 3, "held": [5, 6, 7, 5, 5, 9]})
    age, sex, held = (
        Column.of(name, kind, table[name].to_pylist())
        for name, kind in (("age", "integer"), ("sex", "string"), ("held", "integer"))
    )
    measures = (Measure("COUNT(*)", "count"), Measure("SUM(held)", "sum", "held"), Measure("AVG(age)", "avg", "age"))
    case = Case((age, sex), held, table, (0, 0, 0, 1, 1, 1), "full_permutation")
    ask(case, [Question(("sex",), measures, "age = 1"), Question(("age", "sex"), measures)])


def test_conditions_that_mix_two_columns_are_refused() -> None:
    table = pa.table({"age": [1, 2, 3, 4], "zip": [1, 2, 3, 4], "held": [5, 6, 7, 8]})
    age, zipcode, held = (Column.of(name, "integer", [1]) for name in table.column_names)
    refused = (
        "SELECT COUNT(*) FROM microdata WHERE age > zip",
        "SELECT SUM(age * held) FROM microdata",
        "SELECT SUM(age + zip) FROM microdata",
        "SELECT age + zip, COUNT(*) FROM microdata GROUP BY 1",
    )
    with Case((age, zipcode), held, table, (0, 0, 1, 1), "full_permutation").released() as release:
        for sql in refused:
            with pytest.raises(QueryError, match=r"mixes .* shuffled apart"):
                release.ask(sql)
        together = release.ask("SELECT COUNT(*) AS n FROM microdata WHERE NOT (age < 2 OR zip < 2)").rows()
        assert together[0]["n_high"] == 3


def ask(case: Case, questions: list[Question], blocks: Blocks | None = None) -> None:
    possible = shuffled(case.table, case.groups, blocks)
    with case.released() as release:
        for question in questions:
            _check(question, release.ask(question.sql), possible.answer(question))
    possible.close()


def test_too_many_combinations_are_refused(tmp_path: Path) -> None:
    table = pa.table({name: [(7 * i + j) % 200 for i in range(200)] for j, name in enumerate("abc")})
    policy = Policy(quasi=["a", "b", "c"], guarantee={"k": 200}, publication="full_permutation")
    with closing(publish(table, policy, to=tmp_path / "release").session) as desk:
        with pytest.raises(QueryError, match=r"8,000,000 combinations .* at most 1,000,000"):
            desk.ask("SELECT a, b, c, COUNT(*) FROM microdata GROUP BY a, b, c")
        assert len(desk.ask("SELECT a, b, COUNT(*) FROM microdata GROUP BY a, b")) == 40_000
        assert len(desk.ask("SELECT a // 50 AS x, b, c // 50 AS y, COUNT(*) FROM microdata GROUP BY x, b, y")) == 3_200


def test_stderr_is_exact_in_very_large_groups(tmp_path: Path) -> None:
    """Two margins of all rows but one: the variance is that of one row or two that do not match."""
    rows = 200_000
    table = pa.table({"a": [0] + [1] * (rows - 1), "b": [0] + [1] * (rows - 1)})
    policy = Policy(quasi=["a", "b"], guarantee={"k": rows}, publication="full_permutation")
    with closing(publish(table, policy, to=tmp_path / "release").session) as desk:
        [found] = desk.ask("SELECT COUNT(*) AS n FROM microdata WHERE a = 1 AND b = 1").rows()
    same = 1 / rows  # the chance that one row has both zeros
    assert found["n_stderr"] == pytest.approx((same * (1 - same)) ** 0.5, rel=1e-5)


def test_columns_are_asked_without_a_sensitive_one() -> None:
    """Of location traces: everything is sensitive, every column was shuffled, and answers are as of the others."""
    table = pa.table({"place": ["a", "a", "b", "c", "c", "d"], "hour": [1, 2, 3, 4, 4, 9], "day": [1, 2, 1, 2, 1, 2]})
    policy = Policy(quasi=["place", "hour", "day"], guarantee={"k": 3}, publication="full_permutation")
    measures = (Measure("COUNT(*)", "count"), Measure("SUM(hour)", "sum", "hour"), Measure("MAX(day)", "max", "day"))
    questions = [
        Question((), measures, "place = 'a' AND day = 1"),
        Question(("place",), measures, "hour < 4"),
        Question(("place", "day"), measures),
        Question((), measures),
    ]
    groups = (0, 0, 0, 1, 1, 1)
    possible = shuffled(table, groups)
    with tempfile.TemporaryDirectory() as folder, closing(read(table)) as private:
        release = publish_groups(private, policy, None, np.array(groups, np.int32), to=Path(folder) / "release")
        for question in questions:
            _check(question, release.ask(question.sql), possible.answer(question))
        release.close()
    possible.close()
