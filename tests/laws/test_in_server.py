"""Law: what a release in PostgreSQL answers is what enumerating every table that it allows gives, or the truth lies within.

The same small tables and questions as in the laws of the compiled pass and of the plan, of other chance; fewer, since
each release is loaded.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from uuid import uuid4

import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from discreet import Policy, publish
from discreet.engines import Address
from discreet.errors import QueryError
from discreet.release import Release
from discreet.release.database.move import put
from laws import test_bounds as bounds
from laws import test_generalized_brute_force as boxes
from laws import test_joins_brute_force as joins
from laws import test_shuffled_brute_force as shuffled
from laws.law import law
from laws.questions import MEASURABLE, random_case, random_crowd, random_lookup, random_question
from laws.test_answers_brute_force import NUMBERS, OTHERS, _check
from laws.worlds import worlds
from server import Server

RANDOM = st.randoms(use_true_random=True)


@contextmanager
def there(server: Server, release: Release) -> Iterator[Release]:
    """The release in a server."""
    with put(release, Address(server.url(), f"law_{uuid4().hex}")) as loaded:
        yield loaded


@pytest.mark.parametrize(
    ("kinds", "alike"), [((*NUMBERS, *OTHERS), False), ((*NUMBERS, *OTHERS), True), (MEASURABLE, False)]
)
@law(6)
@given(rng=RANDOM)
def test_answers_in_a_server_equal_brute_force(
    server: Server, kinds: tuple[str, ...], *, alike: bool, rng: Random
) -> None:
    """As anatomy and permutation; the last of values that are all there, whose sums the release has ready."""
    measured = kinds is MEASURABLE
    case = random_case(rng, kinds, alike=alike, gaps=not measured)
    note(str(case))
    way = random_lookup if measured else random_question
    questions = [way(rng, case.quasi, case.sensitive) for _ in range(2)]
    questions.append(random_question(rng, case.quasi, case.sensitive, keys=True))
    possible = worlds(case.table, case.sensitive.name, case.groups)
    with case.released() as release, there(server, release) as loaded:
        for question in questions:
            _check(question, loaded.ask(question.sql), possible.answer(question))
    possible.close()


@law(6)
@given(RANDOM)
def test_joins_in_a_server_equal_brute_force(server: Server, rng: Random) -> None:
    case = random_case(rng, (*NUMBERS, *OTHERS))
    column = rng.choice([*case.quasi, case.sensitive])
    table, way = joins.own_table(rng, column), rng.choice(["JOIN", "LEFT JOIN"])
    note(f"{case}\n{way} by {column.name}: {table.to_pydict()}")
    possible = worlds(case.table, case.sensitive.name, case.groups)
    joins.beside(possible, 0, column, table)
    question = joins.asked(rng, case, 1, keys=rng.random() < 0.5)
    meant = [part for part in (question.where, '"there 0"' if way == "JOIN" else None) if part]
    expected = possible.answer(replace(question, where=" AND ".join(f"({part})" for part in meant) or None))
    sql = question.sql.replace(
        "FROM microdata", f"FROM microdata AS m {way} own0 AS o0 ON m.{column.quoted} = {joins.own_key(0)}"
    )
    sql = sql.replace('"label 0"', "o0.label").replace('"weight 0"', "o0.weight")
    note(sql)
    with case.released() as release, there(server, release) as loaded:
        answer = loaded.ask(sql, tables={"own0": table})
        told = tuple(each for each in answer.notes if not each.startswith("of the tables"))
        _check(question, replace(answer, notes=told), expected)
    possible.close()


@pytest.mark.parametrize("publication", ["full_permutation", "slicing"])
@law(6)
@given(RANDOM)
def test_shuffled_columns_in_a_server_equal_brute_force(server: Server, publication: str, rng: Random) -> None:
    blocks: shuffled.Blocks | None = None
    if publication == "slicing":
        case, blocks = shuffled.sliced_case(rng, (*NUMBERS, *OTHERS))
        questions = [shuffled.sliced_question(rng, case, blocks, keys=keys) for keys in (False, True)]
    else:
        case = shuffled.small_case(rng, (*NUMBERS, *OTHERS))
        questions = [shuffled.small_question(rng, case, keys=keys) for keys in (False, True)]
    note(str(case))
    possible = shuffled.shuffled(case.table, case.groups, blocks)
    with case.released() as release, there(server, release) as loaded:
        for question in questions:
            _check(question, loaded.ask(question.sql), possible.answer(question))
    possible.close()


@law(6)
@given(RANDOM)
def test_boxes_in_a_server_equal_brute_force(server: Server, rng: Random) -> None:
    """Which rows of a group match is enumerated, each way as likely as the shares of the boxes say."""
    case = replace(random_case(rng, ("integer", "float", "decimal", "string", "date")), publication="generalization")
    note(str(case))
    with case.released() as release, there(server, release) as loaded:
        for _ in range(2):
            question, where, held = boxes.boxed_question(rng, case)
            note(question.sql)
            try:
                answer = loaded.ask(question.sql)
            except QueryError as error:
                if "does not tell" not in error.message:
                    raise
                continue
            rows = [{**row, "alike": any(boxes.LABEL in each for each in answer.notes)} for row in answer.rows()]
            boxes._check_masks(case, release, boxes.covered(release, where), question, held, rows)


@law(3)
@given(RANDOM)
def test_bounds_in_a_server_contain_the_truth(server: Server, rng: Random) -> None:
    partition, guarantee = rng.choice([each.values for each in bounds._ways()])
    case = random_crowd(rng, rng.randint(60, 120), missing=False)
    policy = Policy(
        quasi=tuple(column.name for column in case.quasi),
        sensitive=case.sensitive.name,
        guarantee=guarantee,
        partition=partition,
    )
    note(f"{case.table.schema}\n{policy}")
    with TemporaryDirectory() as folder:
        release = publish(case.table, policy, to=Path(folder) / "release", seed=rng.getrandbits(32))
        with there(server, release) as loaded:
            for keys in (False, True):
                question = random_question(rng, case.quasi, case.sensitive, keys=keys)
                told = bounds._bounds(loaded, question)
                bounds._check_truth(question, told, bounds._truth(case.table, question))
