"""What an executor makes of a block: the same bytes whoever makes it, and rows that show nothing of their order."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from discreet.engines.spark.blocks import put
from discreet.errors import GuaranteeError, InternalError
from discreet.guarantees import Guarantee
from discreet.partition.histogram.runs import Runs
from discreet.partition.histogram.shares import Shares
from discreet.policy import Policy
from discreet.publication.axes import Axis
from discreet.publication.in_blocks import Block, InCell
from discreet.values.codes import encode

KEY = b"k" * 32
QUASI = ("age", "sex")


@pytest.fixture(scope="module")
def rows():
    chance = np.random.default_rng(5)
    sex = pa.array(["f", "m", None])
    return pa.table(
        {
            "age": pa.array(chance.integers(20, 70, 600).astype(np.int16)),
            "sex": sex.take(pa.array(chance.integers(0, 3, 600))),
            "ill": pa.array([f"ill {i}" for i in chance.integers(0, 9, 600)]),
        }
    )


def block(rows, publication="anatomy", l=3):
    policy = Policy(quasi=QUASI, sensitive="ill", guarantee={"l": l}, publication=publication, partition="local")
    values = encode(rows["ill"])
    axes = [Axis(name, encode(rows[name]), None, name == "age") for name in QUASI]
    return Block(policy, values, values.counts(), Guarantee.of({"l": l}), InCell("local", {}, axes), axes)


@pytest.mark.parametrize("publication", ["anatomy", "permutation", "generalization"])
def test_blocks_are_repeated(rows, publication, tmp_path):
    made = block(rows, publication)
    found = []
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(rows.num_rows)
        one = made.made(rows.take(pa.array(order)), 4, KEY)
        paths = [tmp_path / f"{name}-{seed}" for name in one.tables]
        for table, path in zip(one.tables.values(), paths, strict=True):
            put(table, path)
        found.append([path.read_bytes() for path in paths])
    assert found[0] == found[1] == found[2]
    other = made.made(rows, 5, KEY), made.made(rows, 4, b"K" * 32)
    first = made.made(rows, 4, KEY)
    assert all(each.tables != first.tables for each in other)


def test_every_row_of_a_block_is_shown_once(rows):
    shown = block(rows).made(rows, 0, KEY)
    by_all = [("age", "ascending"), ("sex", "ascending")]
    assert shown.tables["qit"].select(QUASI).sort_by(by_all) == rows.select(QUASI).sort_by(by_all)
    counts = shown.tables["st"].group_by("ill").aggregate([("count", "sum")]).sort_by("ill")
    expected = rows.group_by("ill").aggregate([([], "count_all")]).sort_by("ill")
    assert counts["count_sum"].to_pylist() == expected["count_all"].to_pylist()
    assert shown.groups == pc.max(shown.tables["qit"]["group"]).as_py()


def test_permuted_values_are_those_of_their_group(rows):
    key = ["group", "ill"]
    anatomy, permuted = (block(rows, each).made(rows, 0, KEY).tables for each in ("anatomy", "permutation"))
    found = (
        permuted["permuted"].group_by(key).aggregate([([], "count_all")]).sort_by([(name, "ascending") for name in key])
    )
    assert found["count_all"].to_pylist() == anatomy["st"]["count"].to_pylist()
    assert found.select(key).to_pylist() == anatomy["st"].select(key).to_pylist()


def test_values_are_shuffled_evenly(rows):
    """Over 600 keys, each row of a group of three is as likely to get each of its values: within 5 deviations."""
    few = rows.slice(0, 3).set_column(2, "ill", pa.array(["a", "b", "c"]))
    made, times = block(few, "permutation"), 600
    first = [made.made(few, 0, i.to_bytes(32, "big")).tables["permuted"]["ill"][0].as_py() for i in range(times)]
    for value in "abc":
        assert abs(first.count(value) - times / 3) < 5 * (times * 2 / 9) ** 0.5


def test_a_group_that_breaks_the_guarantee_is_found(rows):
    """A plan that puts the rows of each value, which are planned one after another, into groups by twos."""
    counts = encode(rows["ill"]).counts()
    runs = Runs.of(np.arange(600, dtype=np.int32) // 2, np.repeat(np.arange(counts.size), counts))
    planned = replace(block(rows), by=Shares.of(runs, counts, 300))
    with pytest.raises(InternalError, match="broke the guarantee"):
        planned.made(rows, 0, KEY)


def test_boxes_of_a_block_are_tight_and_show_columns_of_all_rows(rows):
    """A block in which no value is missing shows all the same that none is, as the others do."""
    made = block(rows, "generalization")
    known = rows.filter(pc.is_valid(rows["sex"]))
    holes = rows.set_column(0, "age", pa.array([None, *rows["age"].to_pylist()[1:]], pa.int16()))
    wider = block(holes, "generalization")
    for own, given in ((made, rows), (made, known), (wider, rows)):
        rows_of = replace(own, policy=replace(own.policy, publication="anatomy")).made(given, 0, KEY).tables["qit"]
        shown = own.made(given, 0, KEY).tables["generalized"]
        assert ("age_missing" in shown.column_names) == (own is wider)
        ends = rows_of.group_by("group").aggregate([("age", "min"), ("age", "max")]).sort_by("group")
        boxes = shown.group_by(["group", "age_low", "age_high"]).aggregate([]).sort_by("group")
        assert boxes["age_low"].to_pylist() == ends["age_min"].to_pylist()
        assert boxes["age_high"].to_pylist() == ends["age_max"].to_pylist()
        assert shown.sort_by([("group", "ascending"), ("ill", "ascending")]) == shown


def test_files_carry_no_notes(rows, tmp_path):
    put(rows.replace_schema_metadata({"note": "of a writer"}), tmp_path / "x")
    assert not pq.read_schema(tmp_path / "x").metadata
    assert [path.name for path in tmp_path.iterdir()] == ["x"]


def test_a_part_of_the_rows_that_cannot_keep_the_guarantee_is_named(rows):
    """As one that is drawn by chance, where no cut divides a cell: more of it hold a value than of all rows."""
    frequent = pc.equal(rows["ill"], "ill 0")
    part = pa.concat_tables([rows.filter(frequent), rows.filter(pc.invert(frequent)).slice(0, 60)])
    with pytest.raises(GuaranteeError, match="a value is so frequent that a part of the rows") as caught:
        block(rows).made(part, 0, KEY)
    assert 'partition = "deal"' in caught.value.hint
    assert "ill" not in caught.value.message
