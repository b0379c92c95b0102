"""Law: whatever is asked, an estimate over plausible tables lies inside the bounds, and its key is one of theirs."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from hypothesis import given, note

from discreet.answer.session import Session
from discreet.errors import QueryError
from discreet.learn import draws
from laws.law import law
from laws.questions import random_case
from laws.test_compiled_pass import KINDS, RANDOM, questions, rounding


@law(4)
@given(RANDOM)
def test_learned_estimates_lie_inside_their_bounds(rng: Random) -> None:
    case = random_case(rng, KINDS, alike=rng.random() < 0.3)
    note(str(case))
    with pytest.MonkeyPatch.context() as patch, case.released() as release, Session(release) as session:
        patch.setitem(draws.MODELS, "learned", draws.even)
        for sql in questions(rng, case, 4):
            note(sql)
            try:
                even = session.ask(sql, estimator="even")
            except QueryError as error:
                with pytest.raises(QueryError, match=f"^{error.message[:20]}"):
                    session.ask(sql, estimator="learned")
                continue
            found = session.ask(sql, estimator="learned")
            assert found.columns == even.columns
            assert sum("was moved there" in each for each in found.notes) == 0
            if "ORDER BY" in sql:
                continue
            for one, other in zip(found.rows(), even.rows(), strict=True):
                for name in found.estimators:
                    assert (one[f"{name}_low"], one[f"{name}_high"]) == (other[f"{name}_low"], other[f"{name}_high"])
                    assert (one[name] is None) == (other[name] is None)
                    assert inside(one[name], one[f"{name}_low"], one[f"{name}_high"], rounding(case))


def inside(estimate: Any, low: Any, high: Any, rounding: float) -> bool:
    if estimate is None or low is None or high is None or isinstance(estimate, str):
        return True
    if isinstance(estimate, float):
        low, high = float(low), float(high)
        low, high = low - rounding - 1e-9 * abs(low), high + rounding + 1e-9 * abs(high)
    return bool(low <= estimate <= high)
