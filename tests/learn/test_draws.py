"""Draws: always the group's own values, and by the `even` model each order as often as any other."""

from __future__ import annotations

from collections import Counter
from math import factorial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from discreet.errors import InputError
from discreet.learn.draws import MODELS, draw
from discreet.learn.view import View
from learn.shown import released


@pytest.mark.parametrize("model", MODELS)
def test_draws_keep_groups(model: Any, tmp_path: Path) -> None:
    view = View.of(released(tmp_path / "release"))
    draws = draw(view, 5, model=model, secret=3)
    assert draws.codes.shape == (5, view.rows)
    assert draws.fit.model == model
    for table in draws.codes:
        for first, last in zip(view.starts, view.starts[1:], strict=False):
            assert sorted(table[first:last]) == view.held[first:last].tolist()
    assert (draw(view, 5, model=model, secret=3).codes == draws.codes).all()
    assert (draw(view, 5, model=model, secret=4).codes != draws.codes).any()


def test_even_draws_every_order_alike(tmp_path: Path) -> None:
    private = pa.table({"age": [1, 2, 3, 4], "pay": [1, 2, 3, 4]})
    view = View.of(released(tmp_path / "release", table=private, quasi=["age"], guarantee={"l": 4}))
    tables = 1000
    found: Counter[tuple[int, ...]] = Counter()
    for secret in range(6):
        found.update(map(tuple, draw(view, tables, model="even", secret=secret).codes.tolist()))
    expected = 6 * tables / factorial(4)
    chi_squared = sum((n - expected) ** 2 / expected for n in found.values())
    assert len(found) == factorial(4)
    assert chi_squared < 23 + 4 * np.sqrt(2 * 23)  # its mean, and four of its standard deviations


@pytest.mark.parametrize("tables", [1, 0, -3, 2.0, True, 1001])
def test_too_few_tables_are_refused(tables: Any, tmp_path: Path) -> None:
    view = View.of(released(tmp_path / "release"))
    with pytest.raises(InputError, match="plausible tables are 2 to 1,000, got"):
        draw(view, tables, model="even")


def test_an_unknown_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no model `guessed`"):
        draw(View.of(released(tmp_path / "release")), 2, model="guessed")  # type: ignore[arg-type]
