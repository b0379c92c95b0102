"""Tampering with a swapped release, digests mended so that only the fault itself can give it away."""

import shutil
from pathlib import Path

import pyarrow as pa
import pytest

from discreet import Policy, open_release, publish, verify
from discreet.errors import ReleaseError
from release.forger import Forger

SALARIES = [10, 10, 20, 25, 25, 25, 40, 55, 70, 90]
KEYS = {"swapped": ("age", "sex", "salary"), "windows": ("salary",)}


@pytest.fixture(scope="module")
def releases(tmp_path_factory):
    place = tmp_path_factory.mktemp("releases")
    ages = [30, 30, 31, None, 32, 33, 33, 34, 35, 36]
    table = pa.table({"age": ages, "sex": ["f", "m"] * 5, "salary": SALARIES, "note": ["private"] * 10})
    policy = Policy(
        quasi=["age", "sex"], sensitive="salary", drop=["note"], guarantee={"k": 3, "e": 15}, publication="swap"
    )
    return {form: publish(table, policy, to=place / form, format=form).path for form in ("parquet", "csv")}


@pytest.fixture
def forger(releases, tmp_path):
    return Forger(Path(shutil.copytree(releases["parquet"], tmp_path / "copy")), KEYS)


def found(path):
    """The names of the checks that fail."""
    report = verify(path)
    assert report.ok == (not report.failures)
    assert not [text for text in (check.detail for check in report.failures) if "private" in text]
    return {check.name for check in report.failures}


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_an_honest_release_passes(releases, form):
    report = verify(releases[form])
    assert report.ok
    assert [check.name for check in report.checks] == [
        *("manifest", "files", "digests", "metadata", "columns", "groups", "guarantee", "windows", "order"),
    ]


def test_the_forger_alone_is_not_noticed(forger):
    forger.rows("swapped", lambda rows: rows)
    forger.rows("windows", lambda rows: rows)
    assert found(forger.path) == set()


def first(rows, **changes):
    rows[0].update(changes)
    return rows


def at(rows, number, **changes):
    rows[number].update({name: rows[number][name] + by for name, by in changes.items()})
    return rows


def valued(rows, value, other):
    """Let the first row that shows one value show another."""
    next(row for row in rows if row["salary"] == value)["salary"] = other
    return rows


FAULTS = {
    # what rows show
    "a row shows another value": (lambda f: f.rows("swapped", lambda r: valued(r, 10, 90)), {"windows"}),
    "a row shows a value that nobody has": (lambda f: f.rows("swapped", lambda r: valued(r, 40, 41)), {"windows"}),
    "a row shows no value": (lambda f: f.rows("swapped", lambda r: valued(r, 40, None)), {"windows"}),
    "a row is gone": (lambda f: f.rows("swapped", lambda r: r[1:]), {"groups", "windows"}),
    "a row is there twice": (lambda f: f.rows("swapped", lambda r: [r[0], *r]), {"groups", "windows"}),
    # windows
    "a row moved, counted in windows": (
        lambda f: (
            f.rows("swapped", lambda r: valued(r, 10, 90)),
            f.rows("windows", lambda r: at(at(r, 0, count=-1), -1, count=1)),
        ),
        {"windows"},
    ),
    "a window is narrower from below": (lambda f: f.rows("windows", lambda r: at(r, 3, low=1)), {"windows"}),
    "a window is narrower from above": (lambda f: f.rows("windows", lambda r: at(r, 2, high=-1)), {"windows"}),
    "a window is wider": (lambda f: f.rows("windows", lambda r: at(r, -1, low=-1)), {"windows"}),
    "every window is everything": (
        lambda f: f.rows("windows", lambda r: [{**row, "low": 1, "high": 10} for row in r]),
        {"windows"},
    ),
    "a value has no window": (lambda f: f.rows("windows", lambda r: r[1:]), {"groups", "windows"}),
    "a value has two windows": (lambda f: f.rows("windows", lambda r: [r[0], *r]), {"groups", "windows", "order"}),
    "a window has no end": (lambda f: f.rows("windows", lambda r: first(r, high=None)), {"windows"}),
    "a window counts nobody": (
        lambda f: f.rows("windows", lambda r: [{**r[0], "salary": 1, "count": 0}, *r]),
        {"groups", "windows"},
    ),
    "windows are sized to more values": (lambda f: f.window(k=4), {"windows"}),
    "windows are sized to a longer range": (lambda f: f.window(e=40), {"windows"}),
    "windows are sized to more than there is": (lambda f: f.window(k=9), {"windows"}),
    "windows are sized to a range that is not there": (lambda f: f.window(e=1e300), {"windows"}),
    # order
    "rows in another order": (lambda f: f.rows("swapped", lambda r: r[::-1], sort=False), {"order"}),
    "rows ordered by value": (
        lambda f: f.rows("swapped", lambda r: sorted(r, key=lambda row: row["salary"]), sort=False),
        {"order"},
    ),
    "windows in another order": (lambda f: f.rows("windows", lambda r: r[::-1], sort=False), {"order"}),
    # columns
    "a stray column": (
        lambda f: f.change("swapped", lambda t: t.append_column("row", pa.array(range(len(t))))),
        {"columns"},
    ),
    "a stray column that the manifest lists": (
        lambda f: f.manifest(lambda m: m["resources"][0]["schema"]["fields"].append({"name": "x", "type": "integer"})),
        {"manifest"},
    ),
    "another type": (lambda f: f.change("windows", lambda t: t.set_column(1, "count", t["count"].cast("double"))), {"columns"}),
    # promises
    "a guarantee": (lambda f: f.promise(guarantee={"k": 3, "e": 15}), {"manifest"}),
    "a weaker guarantee": (lambda f: f.promise(guarantee={"k": 2}), {"manifest"}),
    "a partition": (lambda f: f.promise(partition="tightest"), {"manifest"}),
    "windows sized to nothing": (lambda f: f.window(k=1), {"manifest"}),
    "windows sized to a negative range": (lambda f: f.window(e=-1), {"manifest"}),
    "no window": (lambda f: f.promise(window=None), {"manifest"}),
    "an end of windows with the name of a column": (lambda f: f.window(low="AGE"), {"manifest"}),
    "another publication": (lambda f: f.promise(publication="anatomy"), {"manifest"}),
    "more rows": (lambda f: f.promise(rows=11), {"groups"}),
    "more groups": (lambda f: f.promise(groups=2), {"groups"}),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_planted_faults_of_a_swap_are_found(forger, fault):
    plant, names = FAULTS[fault]
    plant(forger)
    assert found(forger.path) == names


@pytest.mark.parametrize("old", ["1", "2"])
def test_parts_of_a_rank_are_found_in_csv(releases, tmp_path, old):
    forger = Forger(Path(shutil.copytree(releases["csv"], tmp_path / "copy")), KEYS)
    path = forger.path / "windows.csv"
    head, row, *rest = path.read_text().splitlines(keepends=True)
    value, count, low, high = row.strip().split(",")
    changed = {"1": (value, f"{count}.4", low, high), "2": (value, count, f"{low}.2", high)}[old]
    path.write_text("".join([head, ",".join(changed) + "\n", *rest]))
    forger.mend()
    assert "windows" in found(forger.path)


def test_other_publications_have_no_windows(tmp_path):
    table = pa.table({"age": list(range(8)), "salary": list(range(8))})
    policy = Policy(quasi=["age"], sensitive="salary", guarantee={"k": 2, "e": 1}, publication="permutation")
    forger = Forger(publish(table, policy, to=tmp_path / "r").path)
    forger.promise(window={"k": 2, "e": 1, "low": "low", "high": "high"})
    assert found(forger.path) == {"manifest"}
    with pytest.raises(ReleaseError, match="the member `window` must be there for `swap`"):
        open_release(forger.path)


def test_a_grouped_release_cannot_promise_nothing(tmp_path):
    table = pa.table({"age": list(range(8)), "salary": list(range(8))})
    policy = Policy(quasi=["age"], sensitive="salary", guarantee={"k": 2, "e": 1}, publication="permutation")
    forger = Forger(publish(table, policy, to=tmp_path / "r").path)
    forger.promise(guarantee={})
    assert found(forger.path) == {"manifest"}
