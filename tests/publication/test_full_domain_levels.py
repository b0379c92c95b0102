"""Full domain: every column is shown at one level by all groups, whatever is missing, and whoever is suppressed."""

from __future__ import annotations

from contextlib import closing
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet

PLACES = {"all": {"north": {"Norway": ["Oslo", "Bergen"], "Sweden": ["Lund", "Umea"]}, "south": {"Italy": ["Rome"]}}}
LEVELS = [{"Oslo", "Bergen", "Lund", "Umea", "Rome"}, {"Norway", "Sweden", "Italy"}, {"north", "south"}, {"all"}]


def people(seed: int, *, missing: bool, rows: int = 60) -> pa.Table:
    chance = np.random.default_rng(seed)
    holes = chance.random((3, rows)) < (0.15 if missing else 0)
    town = chance.choice(sorted(LEVELS[0]), rows, p=[0.4, 0.3, 0.2, 0.07, 0.03])
    age, year = chance.integers(18, 60, rows), np.sort(chance.integers(0, 9, rows))
    columns = [
        [None if gone else each for gone, each in zip(*pair, strict=True)]
        for pair in zip(holes, (town.tolist(), age.tolist(), year.tolist()), strict=True)
    ]
    pay = chance.integers(0, 5, rows)
    return pa.table({"town": columns[0], "age": columns[1], "year": columns[2], "pay": pay})


def rules(suppression: float, **more: Any) -> discreet.Policy:
    values: dict[str, Any] = {
        "quasi": ["town", "age", "year"],
        "sensitive": "pay",
        "guarantee": {"k": 4},
        "publication": "generalization",
        "partition": "full_domain",
        "ordered": ["year"],
        "hierarchies": {"town": {"tree": PLACES}, "age": {"intervals": [5, 10, 20]}},
        "options": {"suppression": suppression},
    }
    return discreet.Policy(**{**values, **more})


@pytest.mark.parametrize("missing", [False, True], ids=["present", "missing"])
@pytest.mark.parametrize("suppression", [0, 0.2])
@pytest.mark.parametrize("seed", range(4))
def test_full_domain_shows_one_level(tmp_path: Path, seed: int, suppression: float, *, missing: bool) -> None:
    table = people(seed, missing=missing)
    with closing(discreet.publish(table, rules(suppression), to=tmp_path / "r", seed=seed)) as release:
        assert discreet.verify(release.path).ok
        boxes = {tuple(sorted(row.items(), key=lambda pair: pair[0])) for row in shown(release)}
        rows = [dict(box) for box in boxes]
    towns = {row["town"] for row in rows} - {None}
    assert sum(bool(towns & level) for level in LEVELS) == 1, towns
    widths = {None if row["age_low"] is None else row["age_high"] - row["age_low"] for row in rows}
    assert len(widths - ({None} if any(row.get("age_missing") for row in rows) else set())) == 1, widths
    years = {(row["year_low"], row["year_high"]) for row in rows} - {(None, None)}
    assert all(one[1] < other[0] or other[1] < one[0] for one, other in combinations(years, 2)), years
    # what is missing is a value of its own, or every box may hold it
    assert "all" not in towns or all(row["town"] == "all" for row in rows)


def shown(release: discreet.Release) -> list[dict[str, Any]]:
    drop = ["pay", release.promise.group]
    return pq.read_table(release.file("generalized")).drop_columns(drop).to_pylist()


def test_rare_towns_no_longer_stand_under_other_labels_than_frequent_ones(tmp_path: Path) -> None:
    """Oslo alone could be shown; Lund and Umea cannot. Before, `Oslo` and `Sweden` stood side by side."""
    table = pa.table({"town": ["Oslo"] * 9 + ["Lund", "Lund", "Umea", "Umea"], "pay": list(range(13))})
    only = {"quasi": ["town"], "guarantee": {"k": 4}, "ordered": [], "hierarchies": {"town": {"tree": PLACES}}}
    with closing(discreet.publish(table, rules(0, **only), to=tmp_path / "r", seed=1)) as release:
        assert {row["town"] for row in shown(release)} == {"Norway", "Sweden"}


def test_an_estimate_over_a_label_says_what_it_stands_on(tmp_path: Path) -> None:
    """29 of 30 people of the label live in one town; each town counts alike, and no standard error pretends."""
    table = pa.table({"town": ["Oslo"] * 29 + ["Bergen"] + ["Rome"] * 10, "pay": list(range(40))})
    only = {"quasi": ["town"], "guarantee": {"k": 4}, "ordered": [], "hierarchies": {"town": {"tree": PLACES}}}
    with closing(discreet.publish(table, rules(0, **only), to=tmp_path / "r", seed=1)) as release:
        cut = release.ask("SELECT COUNT(*) FROM microdata WHERE town = 'Bergen'")
        assert cut.rows() == [{"count": 15.0, "count_stderr": None, "count_low": 0, "count_high": 30}]
        [note] = cut.notes
        assert note.startswith(
            "the estimate assumes that all values of a label are equally likely; nothing in the release"
        )
        whole = release.ask("SELECT COUNT(*) FROM microdata WHERE town IN ('Oslo', 'Bergen')")
        assert whole.rows() == [{"count": 30.0, "count_stderr": 0.0, "count_low": 30, "count_high": 30}]
        assert whole.notes == ()


def test_an_estimate_between_ends_says_what_its_stderr_is(tmp_path: Path) -> None:
    table = pa.table({"age": [20, 20, 20, 29], "pay": [1, 2, 3, 4]})
    only = {"quasi": ["age"], "guarantee": {"k": 4}, "ordered": ["age"], "hierarchies": {}}
    with closing(discreet.publish(table, rules(0, **only), to=tmp_path / "r", seed=1)) as release:
        [note] = release.ask("SELECT COUNT(*) FROM microdata WHERE age < 25").notes
        assert note == (
            "the estimate assumes that values are spread evenly between the ends of a box; if not, stderr is wrong too"
        )
        assert release.ask("SELECT COUNT(*) FROM microdata WHERE age < 30").notes == ()
