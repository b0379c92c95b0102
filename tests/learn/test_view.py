"""A release as codes says what its files say, and nothing else."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from discreet.errors import ReleaseError
from discreet.learn.view import View
from learn.shown import groups_of, released


@pytest.mark.parametrize("publication", ["anatomy", "permutation"])
def test_a_view_says_what_the_files_say(publication: str, tmp_path: Path) -> None:
    release = released(tmp_path / "release", publication=publication)
    view = View.of(release)
    assert (view.rows, view.groups, view.sensitive) == (60, release.promise.groups, "pay")
    for g, (rows, values) in groups_of(release).items():
        here = slice(view.starts[g - 1], view.starts[g])
        columns = [[coded.values[int(code)].as_py() for code in coded.codes[here]] for coded in view.quasi.values()]
        assert list(zip(*columns, strict=True)) == rows
        held = [view.values[int(code)].as_py() for code in view.held[here]]
        assert Counter(held) == values
        assert held == sorted(held)


def test_every_code_of_a_view_occurs(tmp_path: Path) -> None:
    view = View.of(released(tmp_path / "release"))
    assert len(view.values) == 12  # of a range of 32
    assert set(view.held.tolist()) == set(range(12))
    for coded in view.quasi.values():
        assert np.unique(coded.codes).tolist() == [*range(len(coded.values))]
    assert view.quasi["town"].values.to_pylist() == ["Bonn", "Kiel", "Ulm", None]


def test_a_missing_value_is_one_of_its_own(tmp_path: Path) -> None:
    private = pa.table({"age": [*range(8)], "pay": [1.5, None, 2.5, None, 1.5, 2.5, None, 1.5]})
    release = released(tmp_path / "release", table=private, quasi=["age"], missing_sensitive="value")
    view = View.of(release)
    assert view.values.to_pylist() == [1.5, 2.5, None]
    assert np.bincount(view.held).tolist() == [3, 2, 3]


@pytest.mark.parametrize("publication", ["generalization", "full_permutation"])
def test_a_release_that_shows_no_rows_is_refused(publication: str, tmp_path: Path) -> None:
    release = released(tmp_path / "release", publication=publication, partition="mondrian")
    with pytest.raises(ReleaseError, match=f"cannot be drawn from a release by `{publication}`: it does not show rows"):
        View.of(release)
