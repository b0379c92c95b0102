"""What an executor makes of a block: the same bytes whoever makes it, and rows that show nothing of their order."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from discreet.engines.spark.blocks import put
from discreet.errors import InternalError
from discreet.guarantees import Guarantee
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
    values = encode(rows["ill"])
    axes = [Axis(name, encode(rows[name]), None, name == "age") for name in QUASI]
    cell = InCell("local", {}, axes)
    shown = (publication, QUASI, "ill", "group", "count")
    return Block(*shown, values, values.counts(), Guarantee.of({"l": l}), cell=cell)


@pytest.mark.parametrize("publication", ["anatomy", "permutation"])
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
    assert shown.groups == pc.max(shown.tables["qit"]["group"]).as_py() + 1


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
    broken = block(rows)
    planned = Block(**{**broken.__dict__, "cell": None, "per": 300})
    alike = rows.sort_by("ill").append_column("group", pa.array(np.arange(600, dtype=np.int32) // 2))
    with pytest.raises(InternalError, match="broke the guarantee"):
        planned.made(alike, 0, KEY)


def test_files_carry_no_notes(rows, tmp_path):
    put(rows.replace_schema_metadata({"note": "of a writer"}), tmp_path / "x")
    assert not pq.read_schema(tmp_path / "x").metadata
    assert [path.name for path in tmp_path.iterdir()] == ["x"]
