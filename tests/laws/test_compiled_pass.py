"""Law: the compiled pass and the plain plan answer the same, but for rounding."""

from __future__ import annotations

from random import Random
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, Phase, given, note, settings
from hypothesis import strategies as st

from discreet.answer.accelerate.compiled import CompiledPass
from discreet.answer.plan.context import Model
from discreet.answer.plan.plan import _laid_out, _sorted
from discreet.answer.session import Session
from discreet.engines import connect
from discreet.errors import QueryError
from discreet.release import Release
from laws.questions import random_case, random_crowd, random_question

RANDOM = st.randoms(use_true_random=True)
KINDS = ("integer", "float", "decimal", "large", "string", "date", "boolean", "timestamp")


def law(examples: int) -> Any:
    checks = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]
    phases = [Phase.explicit, Phase.generate]
    return settings(max_examples=examples, deadline=None, derandomize=True, phases=phases, suppress_health_check=checks)


def passed(session: Session, way: CompiledPass, sql: str) -> pa.Table | None:
    question = session._read(sql, None)
    tables = way.answers(question)
    if tables is None:
        return None
    promise = session.release.promise
    query = _sorted(question, _laid_out(Model(question, promise.group, promise.sensitive)))
    for name, table in tables.items():
        session._engine.load(name, table)
    return session._engine.run(query)


def compare(release: Release, questions: list[str]) -> int:
    engine = connect()
    for resource in release.manifest.resources:
        engine.load(f"{resource.name} file", release.file(resource.name), keep=False, kinds=resource.kinds())
    way = CompiledPass(engine, release)
    served = 0
    for sql in questions:
        note(sql)
        try:
            expected = release.session.ask(sql)
        except QueryError as error:
            note(str(error))
            continue
        found = passed(release.session, way, sql)
        if found is None:
            continue
        served += 1
        width = expected.table.num_columns
        found = found.select(range(width))
        assert found.schema == expected.table.schema, sql
        assert found.num_rows == expected.table.num_rows, sql
        for one, other in zip(found.to_pylist(), expected.table.to_pylist(), strict=True):
            for name, value in one.items():
                wanted = other[name]
                assert value == wanted or float(value) == pytest.approx(float(wanted), rel=1e-9, abs=1e-9), (
                    sql,
                    name,
                    one,
                    other,
                )
    engine.close()
    return served


@law(25)
@given(RANDOM)
def test_the_pass_equals_the_plan(rng: Random) -> None:
    case = random_case(rng, KINDS, alike=rng.random() < 0.3)
    note(str(case))
    with case.released() as release:
        compare(
            release, [random_question(rng, case.quasi, case.sensitive, keys=rng.random() < 0.5).sql for _ in range(6)]
        )


@law(8)
@given(RANDOM)
def test_the_pass_equals_the_plan_in_a_crowd(rng: Random) -> None:
    case = random_crowd(rng, rng.randint(20, 300), missing=rng.random() < 0.5)
    note(str(case))
    with case.released() as release:
        compare(
            release, [random_question(rng, case.quasi, case.sensitive, keys=rng.random() < 0.5).sql for _ in range(6)]
        )
