"""A constant that the release shows nowhere is told, with what may have been meant."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from discreet import Policy, publish
from discreet.answer import Session, occurring
from discreet.release import Release

ROWS = 240
PEOPLE = pa.table(
    {
        "age": [20 + 2 * (i % 30) for i in range(ROWS)],
        "sex": ["Female" if i % 2 else "Male" for i in range(ROWS)],
        "height": [1.5 + (i % 10) / 10 for i in range(ROWS)],
        "born": [date(1990 + i % 5, 1, 1) for i in range(ROWS)],
        "ill": [f"illness {i % 12}" for i in range(ROWS)],
    }
)


def released(to: Path, **options: Any) -> Release:
    policy = {"quasi": ["age", "sex", "height", "born"], "sensitive": "ill", "guarantee": {"l": 4}, **options}
    return publish(PEOPLE, Policy(**policy, accept={"looks": "invented"}), to=to)


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Release]:
    with closing(released(tmp_path_factory.mktemp("occurring") / "release", partition="deal").session) as session:
        yield session.release


TOLD = {
    "sex = 'female'": ["`sex` has no value 'female' in the release; the nearest: 'Female'"],
    "sex <> 'Femal'": ["`sex` has no value 'Femal' in the release; the nearest: 'Female', 'Male'"],
    "sex IN ('Male', 'x', 'MALE')": [
        "`sex` has no value 'x' in the release; nor one that is spelled nearly so",
        "`sex` has no value 'MALE' in the release; the nearest: 'Male'",
    ],
    "age = 21": ["`age` has no value 21 in the release; the nearest: 20, 22"],
    "age = 200 AND age <> -3": [
        "`age` goes from 20 to 78 in the release: 200 lies beyond",
        "`age` goes from 20 to 78 in the release: -3 lies beyond",
    ],
    "age > 200 OR age < 3": [
        "`age` goes from 20 to 78 in the release: 200 lies beyond",
        "`age` goes from 20 to 78 in the release: 3 lies beyond",
    ],
    "age < 200 OR age > 3 OR age BETWEEN 0 AND 21": [],
    "ill = 'Illness 3'": ["`ill` has no value 'Illness 3' in the release; the nearest: 'illness 3'"],
    "born = DATE '1999-01-01'": [
        "`born` goes from 1990-01-01 to 1994-01-01 in the release: CAST('1999-01-01' AS DATE) lies beyond"
    ],
    "born = '1991-01-01' AND age > 21 AND sex = 'Male' AND height = 1.6 AND 20 = age AND age // 2 = 999": [],
}


@pytest.mark.parametrize("condition", TOLD)
@pytest.mark.parametrize("way", [True, False])
def test_values_that_do_not_occur_are_told(condition: str, way: bool, release: Release) -> None:  # noqa: FBT001
    with Session(release, accelerate=way) as session:
        notes = session.ask(f"SELECT COUNT(*) FROM microdata WHERE {condition}").notes
    assert [note for note in notes if "in the release" in note] == TOLD[condition]


def test_conditions_inside_aggregates_are_looked_at(release: Release) -> None:
    notes = release.ask("SELECT SUM(CASE WHEN sex = 'f' THEN age END) FROM microdata").notes
    assert any("`sex` has no value 'f'" in note for note in notes)


def test_many_constants_are_not_all_told(release: Release) -> None:
    notes = release.ask(f"SELECT COUNT(*) FROM microdata WHERE age IN ({', '.join(map(str, range(101, 120)))})").notes
    assert notes[-1] == "14 more constants of the question do not occur in the release"


def test_of_very_many_values_only_the_ends_are_known(release: Release, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(occurring, "MOST", 5)
    with Session(release) as session:
        sql = "SELECT COUNT(*) FROM microdata WHERE age IN (21, 300) AND ill = 'nothing'"
        assert [note for note in session.ask(sql).notes if "in the release" in note] == [
            "`age` goes from 20 to 78 in the release: 300 lies beyond"
        ]


def test_boxes_tell_what_they_may_hold(tmp_path: Path) -> None:
    with closing(released(tmp_path / "release", publication="generalization", partition="mondrian").session) as desk:
        notes = desk.ask("SELECT COUNT(*) FROM microdata WHERE age = 200 AND sex = 'male' AND age > 31").notes
    assert [note for note in notes if "in the release" in note] == [
        "`age` goes from 20 to 78 in the release: 200 lies beyond",
        "`sex` has no value 'male' in the release; the nearest: 'Male'",
    ]


def test_numbers_that_are_shown_by_labels_are_compared_as_numbers(tmp_path: Path) -> None:
    lines = [f"{age};{'young' if age < 50 else 'old'};*" for age in range(20, 80, 2)]
    (tmp_path / "ages.csv").write_text("\n".join(lines))
    hierarchies = {"age": str(tmp_path / "ages.csv")}
    options = {"publication": "generalization", "partition": "full_domain", "hierarchies": hierarchies}
    with closing(released(tmp_path / "release", quasi=["age"], drop="rest", **options).session) as desk:
        notes = desk.ask("SELECT COUNT(*) FROM microdata WHERE age > 31 AND age < 200 AND age <> 21").notes
    assert [note for note in notes if note.startswith("`age`")] == [
        "`age` has no value 21 in the release; the nearest: 20, 22"
    ]
