"""Groups made of counts of combinations: those of one machine, or a refusal that says what to do."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet
from discreet.errors import InputError, InternalError
from discreet.publication import in_combinations
from discreet.publication.axes import axes
from discreet.publication.generalization import PUBLICATION, Shown, groups_of
from discreet.publication.in_combinations import Combinations
from discreet.publication.prepare import promised
from discreet.values.codes import Tally, encode

QUASI = ("age", "town")


@pytest.fixture(scope="module")
def rows():
    """Ages, some of them missing, and one town in which few people live."""
    chance = np.random.default_rng(8)
    town = pa.array(["here", "there", "nowhere"]).take(pa.array(chance.choice(3, 500, p=[0.5, 0.49, 0.01])))
    age = pa.array(chance.integers(20, 60, 500).astype(np.int16), mask=chance.random(500) < 0.1)
    return pa.table({"age": age, "town": town, "ill": [f"ill {i}" for i in chance.integers(0, 9, 500)]})


def policy(**changes):
    given = {"guarantee": {"l": 2}, "harmless": ["ill 3"], "options": {"cuts": "blind", "suppression": 0.2}, **changes}
    way = {"publication": "generalization", "partition": "full_domain", "ordered": QUASI}
    return discreet.Policy(quasi=QUASI, sensitive="ill", **way, **given)


def counted(rows):
    """A table's rows by combinations, as Spark would count them."""
    return rows.group_by(rows.column_names, use_threads=False).aggregate([([], "count_all")])


def known(rows, rules):
    """What is known of columns before combinations are counted: axes, and how often each sensitive value occurs."""
    found = axes(discreet.read(rows), rules)
    values = rows["ill"].value_counts()
    return found, Tally.of(pa.chunked_array([values.field("values")]), values.field("counts").to_numpy())


@pytest.fixture
def lake(rows, monkeypatch):
    monkeypatch.setattr(in_combinations, "counted_together", lambda *_: counted(rows).rename_columns([*"abc", "n"]))
    return SimpleNamespace(rows=None, schema=rows.schema)


@pytest.mark.parametrize(
    "changes", [{}, {"guarantee": {"k": 8}, "harmless": [], "options": {"suppression": 0.1}}], ids=["blind", "fitted"]
)
def test_groups_of_combinations_are_those_of_rows(rows, lake, changes, tmp_path):
    rules = policy(**changes)
    found, values = known(rows, rules)
    draft = Combinations.of(lake, found, "ill", values).grouped(discreet.read(rows), rules, promised(rules, values))
    here = discreet.publish(rows, rules, to=tmp_path / "here")
    assert here.suppressed == 500 - int(draft.histograms.sizes.sum()) > 0
    groups = groups_of(draft)
    assert PUBLICATION.members(draft)["boxes"] == here.promise.boxes
    shown = Shown.of(groups).rows().read_all()
    expected = pq.read_table(here.file("generalized"))
    assert shown.cast(expected.schema).equals(expected)
    assert groups.boxes.labelled == (here.path / "labels.parquet").exists()


def test_too_many_combinations_are_refused_with_what_to_do(rows, lake, monkeypatch):
    found, values = known(rows, policy())
    monkeypatch.setattr(in_combinations, "counted_together", lambda *_: None)
    with pytest.raises(InputError, match="more than 5,000,000 different combinations") as caught:
        Combinations.of(lake, found, "ill", values)
    assert "mondrian" in caught.value.hint
    with pytest.raises(InputError, match="more than 2,147,483,647 rows"):
        Combinations.of(lake, found, "ill", replace(values, times=values.times * 10**8))


def test_combinations_that_are_not_all_rows_are_refused(rows, lake):
    found, values = known(rows, policy())
    with pytest.raises(InternalError, match="were lost"):
        Combinations.of(lake, found, "ill", replace(values, times=values.times + 1))


def test_combinations_have_the_codes_of_the_whole_column(rows, lake):
    found, values = known(rows, policy())
    combined = Combinations.of(lake, found, "ill", values)
    table = counted(rows)
    for codes, name in zip(
        [*(axis.codes for axis in combined.axes), combined.sensitive], table.column_names, strict=False
    ):
        assert codes.decode(codes.codes).to_pylist() == table[name].to_pylist()
        assert codes.domain.equals(encode(rows[name]).domain)
