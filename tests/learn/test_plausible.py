"""Plausible tables: complete, consistent with the release to the last row, the same for whoever holds it."""

from __future__ import annotations

from collections import Counter
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from discreet import open_release
from discreet.errors import InputError, ReleaseError
from discreet.learn import plausible as module
from discreet.learn.resource import learn
from discreet.release import Release
from learn.shown import groups_of, released, table


def could_be(release: Release, drawn: pa.Table) -> bool:
    """Whether some deal of every group's values to its rows gives exactly these rows; tried out, so groups are small."""
    wanted = Counter(tuple(row.values()) for row in drawn.to_pylist())
    reached: set[frozenset[tuple[Any, int]]] = {frozenset()}
    for rows, values in groups_of(release).values():
        after = set()
        for before in reached:
            for order in set(permutations(values.elements())):
                held = Counter(dict(before)) + Counter((*row, value) for row, value in zip(rows, order, strict=True))
                if all(n <= wanted[row] for row, n in held.items()):
                    after.add(frozenset(held.items()))
        reached = after
    return frozenset(wanted.items()) in reached


@pytest.mark.parametrize("publication", ["anatomy", "permutation"])
def test_every_table_could_be_the_one_that_was_published(publication: str, tmp_path: Path) -> None:
    release = released(tmp_path / "release", publication=publication, table=table(24), guarantee={"l": 3})
    found = release.plausible(4, model="even")
    assert len(found) == len(found.tables) == len([*found]) == 4
    for drawn in found:
        assert drawn.schema == table().schema
        assert could_be(release, drawn)
        swapped = drawn.set_column(2, "pay", pa.array(drawn["pay"].to_pylist()[::-1]))
        assert not could_be(release, swapped)  # the check can fail
    assert len({str(drawn.to_pydict()) for drawn in found}) > 1


def test_frames_and_slices(tmp_path: Path) -> None:
    found = released(tmp_path / "release").plausible(3, model="even")
    assert [frame.columns.tolist() for frame in found.to_pandas()] == [["age", "town", "pay"]] * 3
    assert [frame.columns for frame in found.to_polars()] == [["age", "town", "pay"]] * 3
    assert found[-1].equals(found[2])
    assert [each.equals(one) for each, one in zip(found[1:], found.tables[1:], strict=True)] == [True, True]
    assert repr(found) == "<Plausible: 3 tables of 60 rows by the model `even`>"


def test_rows_follow_what_they_show_and_stay_in_place(tmp_path: Path) -> None:
    """The order of groups is none of the order of rows; row i is the same row in every table."""
    found = released(tmp_path / "release").plausible(5, model="even")
    keys = [(row["age"], row["town"] is None, row["town"] or "") for row in found[0].to_pylist()]
    assert keys == sorted(keys)
    assert all(each.drop_columns("pay").equals(found[0].drop_columns("pay")) for each in found)


def test_whoever_holds_the_release_draws_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISCREET_CACHE", "off")
    first = released(tmp_path / "one")
    again = released(tmp_path / "two")  # by the same seed, so of the same bytes
    other = released(tmp_path / "three", table=table(58))
    one, two, three = (each.plausible(3, model="even") for each in (first, again, other))
    assert (one.codes == two.codes).all()
    assert one.codes.shape != three.codes.shape


def test_tables_are_kept_outside_the_release(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISCREET_CACHE", str(tmp_path / "cache"))
    release = released(tmp_path / "release")
    before = sorted(path.name for path in release.path.iterdir())
    first = release.plausible(3, model="even")

    def never(*_: Any, **__: Any) -> None:
        raise RuntimeError("drawn again")

    with monkeypatch.context() as patched:
        patched.setattr(module, "draw", never)
        again = open_release(release.path)  # `release` remembers what it drew
        assert (again.plausible(3, model="even").codes == first.codes).all()
        with pytest.raises(RuntimeError, match="drawn again"):
            again.plausible(4, model="even")
    assert sorted(path.name for path in release.path.iterdir()) == before
    [path] = (tmp_path / "cache").rglob("*-codes.npy")
    kept = np.load(path)
    for broken in (np.zeros_like(kept), np.roll(kept, 1, axis=1)):  # all values are there, in other groups
        assert not np.array_equal(broken, kept)
        np.save(path, broken)
        assert (open_release(release.path).plausible(3, model="even").codes == first.codes).all()


def test_older_releases_are_drawn_with_a_note(tmp_path: Path) -> None:
    release = released(tmp_path / "release")
    promise = release.promise.model_copy(update={"estimator": None, "randomness": None})
    older = Release(release.path, release.manifest.model_copy(update={"discreet": promise}))
    assert release.plausible(2, model="even").notes == ()
    assert older.plausible(2, model="even").notes == (module.OLDER,)


@pytest.mark.parametrize(
    ("pay", "k", "told"),
    [
        ([1, 2, 3, 4] * 2, 8, module.ONE_GROUP),
        ([1] * 8, 4, module.SAME),
        ([*range(8)], 4, module.ONCE.format("pay")),
        ([f"v{number}" for number in range(8)], 4, module.ONCE.format("pay")),
    ],
)
def test_releases_with_little_to_learn_say_so(pay: list[Any], k: int, told: str, tmp_path: Path) -> None:
    private = pa.table({"age": [20, 21, 22, 23] * 2, "pay": pay})
    release = released(tmp_path / "release", table=private, quasi=["age"], guarantee={"k": k})
    assert release.plausible(3, model="even").notes == (told,)
    drawn = release.plausible(3)
    assert told in drawn.notes
    assert drawn.fit.model == "learned"
    carrying = learn(release, tables=3)
    assert told in carrying.plausible(3).notes
    assert carrying.verify().ok


def test_people_with_several_rows_keep_them(tmp_path: Path) -> None:
    private = pa.table(
        {
            "name": [f"p{i // 2}" for i in range(40)],
            "age": [20 + i // 2 for i in range(40)],
            "ill": [i % 8 for i in range(40)],
        }
    )
    release = released(tmp_path / "release", table=private, quasi=["age"], sensitive="ill", person="name")
    drawn = release.plausible(2, model="even")[0]
    assert drawn.column_names == ["age", "person", "ill"]
    assert Counter(Counter(drawn["person"].to_pylist()).values()) == {2: 20}


def test_bad_numbers_and_releases_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="plausible tables are 2 to 1,000, got 1: a standard error is their spread"):
        released(tmp_path / "release").plausible(1)
    boxes = released(tmp_path / "boxes", publication="generalization", partition="mondrian")
    with pytest.raises(ReleaseError, match="cannot be drawn from a release by `generalization`"):
        boxes.plausible(2, model="even")


def test_tables_that_a_release_carries_are_those_that_are_drawn(tmp_path: Path) -> None:
    release = released(tmp_path / "release")
    carrying = open_release(learn(release, tables=4).path)
    drawn, carried = release.plausible(4), carrying.plausible(4)
    assert all(one.equals(other) for one, other in zip(drawn, carried, strict=True))
    fewer = carrying.plausible(3)
    assert len(fewer) == 3
    assert Counter(map(str, fewer[0].to_pylist())) == Counter(map(str, carried[0].to_pylist()))
    assert len(carrying.plausible(5)) == 5  # drawn anew
