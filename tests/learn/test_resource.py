"""Plausible tables inside a release: made of its other files alone, verified, and never half there."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet import Policy, open_release, publish, verify
from discreet.errors import InputError, ReleaseError
from discreet.learn import draws as drawing
from discreet.learn import resource as module
from discreet.learn.learned import DOUBTFUL
from discreet.learn.resource import extension, learn
from discreet.publication import publish as publishing
from discreet.release import Release
from learn.shown import groups_of, released, table
from release.forger import Forger

KEYS = {"plausible": ("group", "age", "town", "pay_1", "pay_2", "pay_3")}


@pytest.fixture
def carrying(tmp_path: Path) -> Release:
    return learn(released(tmp_path / "release"), tables=3)


def test_what_is_to_be_said_of_tables_stays_with_them(tmp_path: Path) -> None:
    """Of a release in which nothing goes with anything tables are drawn both ways: whoever asks them later is told, too."""
    release = released(tmp_path / "release")
    drawn = release.plausible(3)
    doubt = DOUBTFUL.format(fitted=0, tables=3)
    assert doubt in drawn.notes
    carrying = open_release(learn(release, tables=3).path)
    assert carrying.plausible(3).notes == drawn.notes
    assert doubt in carrying.ask("SELECT COUNT(*) FROM microdata WHERE pay > 30").notes


def failed(folder: Path) -> dict[str, str]:
    return {check.name: check.detail for check in verify(folder).failures}


def test_a_release_is_written_once_more(carrying: Release, tmp_path: Path) -> None:
    before = open_release(tmp_path / "release")
    assert carrying.path == tmp_path / "release-plausible"
    assert failed(carrying.path) == {}
    assert any(check.name == "plausible" for check in carrying.verify().checks)
    for name in ("qit", "st"):
        assert carrying.file(name).read_bytes() == before.file(name).read_bytes()
    assert (carrying.promise.estimator, before.promise.estimator) == ("learned", "even")
    again = json.loads((carrying.path / "datapackage.json").read_text())["discreet"]
    notes = list(before.plausible(3).notes)
    assert again["plausible"] == {"tables": 3, "model": "learned", "rhat": again["plausible"]["rhat"], "notes": notes}
    assert failed(before.path) == {}  # it stays as it was


@pytest.mark.parametrize("publication", ["anatomy", "permutation"])
@pytest.mark.parametrize("format", ["parquet", "csv"])
def test_the_file_holds_rows_and_groups(publication: str, format: Any, tmp_path: Path) -> None:
    policy = Policy(
        quasi=["age", "town"], sensitive="pay", guarantee={"l": 2}, partition="deal", publication=publication
    )
    release = publish(table(), policy, to=tmp_path / "release", seed=1, format=format)
    made = learn(release, tables=2, to=tmp_path / "made")
    assert failed(made.path) == {}
    if format == "parquet":
        rows = pq.read_table(made.file("plausible")).to_pylist()
        for g, (shown, values) in groups_of(made).items():
            here = [row for row in rows if row["group"] == g]
            assert Counter((row["age"], row["town"]) for row in here) == Counter(shown)
            assert Counter(row["pay_1"] for row in here) == Counter(row["pay_2"] for row in here) == values


def test_plausible_file_sees_only_the_release(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two private tables that lead to the same files lead to the same plausible tables; and only a folder is handed over."""
    given: list[tuple[Any, ...]] = []
    original = publishing._extension

    def watched(*arguments: Any) -> Any:
        extend = original(*arguments)

        def act(*seen: Any) -> Any:
            given.append(seen)
            return extend(*seen)

        return act

    monkeypatch.setattr(publishing, "_extension", watched)
    pay = [number // 16 + number % 4 for number in range(256)]  # grows with age, so that there is something to learn
    exchanged = [pay[number ^ 1] for number in range(256)]  # between neighbours, who are one group: the same files
    one, other = (pa.table({"age": range(256), "pay": each}) for each in (pay, exchanged))
    policy = Policy(quasi=["age"], sensitive="pay", guarantee={"l": 2}, partition="mondrian")
    made = [
        publish(each, policy, to=tmp_path / name, seed=seed, plausible=3)
        for each, name, seed in ((one, "one", 1), (other, "other", 2))
    ]
    assert made[0].promise.groups == 128
    told = made[0].promise.plausible
    assert told is not None
    assert told.rhat is not None  # the model was fitted
    assert [*map(len, given)] == [1, 1]
    assert all(isinstance(folder, Path) for (folder,) in given)
    for path in sorted(made[0].path.iterdir()):
        assert path.read_bytes() == (made[1].path / path.name).read_bytes(), path.name
    assert (made[0].path / "plausible.parquet").is_file()


def test_publish_adds_them_before_the_release_appears(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(drawing.MODELS, "learned", drawing.even)
    policy = Policy(quasi=["age", "town"], sensitive="pay", guarantee={"l": 2}, partition="deal")
    steps: list[str] = []
    made = publish(table(), policy, to=tmp_path / "release", seed=1, plausible=3, progress=steps.append)
    assert steps == ["encoding", "grouping", "writing", "learning", "drawing", "verifying"]
    assert failed(made.path) == {}
    assert made.promise.plausible is not None
    assert made.promise.estimator == "learned"
    with pytest.raises(InputError, match="plausible tables are 2 to 1,000, got 1"):
        publish(table(), policy, to=tmp_path / "none", plausible=1)
    boxes = Policy(
        quasi=["age", "town"], sensitive="pay", guarantee={"l": 2}, partition="mondrian", publication="generalization"
    )
    with pytest.raises(ReleaseError, match="cannot be drawn from a release by `generalization`"):
        publish(table(), boxes, to=tmp_path / "none", plausible=3)
    assert [path.name for path in tmp_path.iterdir()] == ["release"]


@pytest.mark.parametrize("step", ["draw", "described", "store_rows"])
def test_nothing_is_written_if_it_fails(step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    release = released(tmp_path / "release")

    def broken(*_: Any, **__: Any) -> None:
        raise InputError("broken")

    monkeypatch.setattr(module, step, broken)
    with pytest.raises(InputError, match="broken"):
        learn(release, tables=2)
    assert [path.name for path in tmp_path.iterdir()] == ["release"]


def test_tables_of_a_forger_are_found(carrying: Release, tmp_path: Path) -> None:
    def forged(act: Any) -> dict[str, str]:
        shutil.rmtree(tmp_path / "copy", ignore_errors=True)
        forger = Forger(shutil.copytree(carrying.path, tmp_path / "copy"), KEYS)
        act(forger)
        return failed(forger.path)

    def other_value(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        wanted = next(row["pay_2"] for row in rows if row["pay_2"] != rows[0]["pay_2"])
        return [{**rows[0], "pay_2": wanted}, *rows[1:]]

    def across_groups(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        one, other = rows[0], next(row for row in rows if row["group"] == 2 and row["pay_2"] != rows[0]["pay_2"])
        one["pay_2"], other["pay_2"] = other["pay_2"], one["pay_2"]
        return rows

    def other_age(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [{**rows[0], "age": rows[0]["age"] + 1}, *rows[1:]]

    one = {"plausible": "in 1 of 3 tables a group holds other values than its own"}
    assert forged(lambda forger: forger.rows("plausible", other_value)) == one
    assert forged(lambda forger: forger.rows("plausible", across_groups)) == one
    assert forged(lambda forger: forger.rows("plausible", other_age)) == {
        "plausible": "its rows are not the rows of the release"
    }
    assert forged(lambda forger: forger.rows("plausible", lambda rows: rows[1:])) == {
        "plausible": "its rows are not the rows of the release"
    }
    assert forged(lambda forger: forger.rows("plausible", lambda rows: rows[::-1], sort=False)).keys() == {"order"}
    floats = lambda found: found.set_column(5, "pay_3", found["pay_3"].cast(pa.float64()))  # noqa: E731
    assert "columns" in forged(lambda forger: forger.change("plausible", floats))


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"plausible": None}, "its `estimator` is `learned`, and it has no plausible tables"),
        ({"plausible": {"tables": 1, "model": "learned"}}, "plausible tables are 2 to 1,000"),
        ({"plausible": {"tables": 2, "model": "learned"}}, "other columns than its publication"),
        ({"plausible": {"tables": 3, "model": "even"}}, "by the model `even`; a release carries those of `learned`"),
        ({"estimator": "even"}, "its `estimator` is neither `learned` nor `design`"),
    ],
)
def test_manifests_of_a_forger_are_refused(change: dict[str, Any], told: str, carrying: Release) -> None:
    Forger(carrying.path).promise(**change)
    with pytest.raises(ReleaseError, match=told):
        open_release(carrying.path)


def test_what_cannot_be_learned_from_is_refused(carrying: Release, tmp_path: Path) -> None:
    with pytest.raises(ReleaseError, match="carries 3 plausible tables already"):
        learn(carrying, tables=2)
    promise = carrying.promise.model_copy(update={"estimator": None, "randomness": None, "plausible": None})
    older = Release(carrying.path, carrying.manifest.model_copy(update={"discreet": promise}))
    with pytest.raises(ReleaseError, match="does not state by what chance rows came to their groups"):
        learn(older, tables=2)
    with pytest.raises(ReleaseError, match="exists already"):
        learn(tmp_path / "release", tables=2)
    with pytest.raises(InputError, match="plausible tables are 2 to 1,000"):
        extension(0)


@pytest.mark.parametrize("name", ["N", "key_1", "drawn 1"])
def test_columns_of_any_name_are_verified_and_asked(name: str, tmp_path: Path) -> None:
    private = table().rename_columns([name, "town", "pay"])
    release = released(tmp_path / "release", table=private, quasi=[name, "town"])
    made = learn(release, tables=2)
    assert failed(made.path) == {}
    older = made.ask(f'SELECT COUNT(*) FROM microdata WHERE "{name}" >= 40 AND pay >= 0').to_arrow().to_pylist()
    answer = made.ask(f'SELECT town, SUM("{name}") AS years, COUNT(DISTINCT pay) FROM microdata GROUP BY town')
    assert older[0]["count"] == sum(age >= 40 for age in private[name].to_pylist())
    ages = Counter[Any]()
    for row in private.to_pylist():
        ages[row["town"]] += row[name]
    assert {row["town"]: row["years"] for row in answer.to_arrow().to_pylist()} == ages
    held = made.ask("SELECT COUNT(DISTINCT pay) AS kinds FROM microdata").to_arrow().to_pylist()[0]
    assert (held["kinds"], held["kinds_stderr"]) == (len(set(private["pay"].to_pylist())), 0)
