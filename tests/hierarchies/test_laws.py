"""What holds of every hierarchy, whatever its form."""

import datetime as dt
from decimal import Decimal
from itertools import pairwise

import numpy as np
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.hierarchies import load
from discreet.hierarchies.match import keys

NAMES = st.text(st.sampled_from("abcOther* (level1)"), min_size=1, max_size=4).filter(str.strip)


@st.composite
def trees(draw):
    """A tree of uneven depth, and its values; a label may have the name of a value elsewhere."""
    values = draw(st.lists(NAMES, min_size=1, max_size=12, unique=True))
    free = {*values, *(f"l{i}" for i in range(60))}

    def label(part):
        name = draw(st.sampled_from(sorted(free - set(part))))
        free.remove(name)
        return name

    def split(part, depth):
        if depth == 4 or len(part) == 1 or draw(st.booleans()):
            return part
        cuts = sorted(draw(st.sets(st.integers(1, len(part) - 1), max_size=3)))
        pieces = [part[a:b] for a, b in pairwise([0, *cuts, len(part)])]
        return {label(piece): split(piece, depth + 1) for piece in pieces}

    tree = split(values, 0)
    return ({"root of all": tree} if isinstance(tree, list) else tree), values


def check_nests(found):
    assert found.nodes[0].tolist() == list(range(found.nodes.shape[1]))
    assert not found.nodes[-1].any()
    for row, labels in zip(found.nodes, found.labels, strict=True):
        firsts = list(dict.fromkeys(row.tolist()))
        assert firsts == list(range(len(labels)))
    for lower, upper in pairwise(found.nodes):
        assert len(set(zip(lower.tolist(), upper.tolist(), strict=True))) == len(set(lower.tolist()))


@settings(max_examples=200, deadline=None)
@given(trees(), st.data())
def test_levels_nest(tree, data):
    spec, values = tree
    some = data.draw(st.lists(st.sampled_from(values), unique=True, min_size=1))
    found = load({"tree": spec}, "x").levels(pa.array(sorted(some, key=str.encode)), "x")
    check_nests(found)


@settings(max_examples=200, deadline=None)
@given(trees())
def test_labels_partition(tree):
    spec, values = tree
    found = load({"tree": spec}, "x").levels(pa.array(sorted(values, key=str.encode)), "x")
    for row, labels in zip(found.nodes, found.labels, strict=True):
        assert len(set(labels)) == len(labels)
        listed = [value for label in labels for value in found.values[label]]
        assert sorted(listed) == sorted(values)
        for value, node in zip(found.labels[0], row, strict=True):
            assert value in found.values[labels[node]]


@settings(max_examples=200, deadline=None)
@given(trees(), st.data())
def test_what_a_table_holds_does_not_show(tree, data):
    """A label stands for the same values whichever of them the table has."""
    spec, values = tree
    hierarchy = load({"tree": spec}, "x")
    whole = hierarchy.levels(pa.array(sorted(values, key=str.encode)), "x")
    some = sorted(data.draw(st.lists(st.sampled_from(values), unique=True, min_size=1)), key=str.encode)
    part = hierarchy.levels(pa.array(some), "x")
    assert part.values.items() <= whole.values.items()
    for i in range(whole.height + 1):
        named = [dict(zip(x.labels[0], np.array(x.labels[i])[x.nodes[i]], strict=True)) for x in (whole, part)]
        assert named[1].items() <= named[0].items()


@settings(max_examples=100, deadline=None)
@given(trees())
def test_a_tree_and_its_level_table_agree(tmp_path_factory, tree):
    spec, values = tree
    domain = pa.array(sorted(values, key=str.encode))
    found = load({"tree": spec}, "x").levels(domain, "x")
    folder = tmp_path_factory.mktemp("table")
    rows = [[f'"{found.labels[i][node]}"' for i, node in enumerate(path)] for path in found.nodes.T]
    (folder / "h.csv").write_text("\n".join(";".join(row) for row in rows), encoding="utf-8")
    again = load("h.csv", "x", folder).levels(domain, "x")
    assert again.nodes.tolist() == found.nodes.tolist()
    assert again.labels == found.labels
    assert {label: set(texts) for label, texts in again.values.items()} == {
        label: set(texts) for label, texts in found.values.items()
    }


WIDTHS = st.lists(st.integers(2, 5), max_size=3).map(lambda ratios: np.cumprod([1, *ratios]).tolist())
NUMBERS = {
    pa.int64(): st.integers(-(2**63), 2**63 - 1) | st.integers(-50, 50),
    pa.int8(): st.integers(-128, 127),
    pa.float64(): st.floats(allow_nan=False, allow_infinity=False).map(lambda x: x + 0.0)
    | st.integers(-9, 9).map(float),
    pa.float32(): st.floats(-1e6, 1e6, width=32).map(lambda x: x + 0.0),
    pa.decimal128(9, 2): st.integers(-(10**9) + 1, 10**9 - 1).map(lambda x: Decimal(x).scaleb(-2)),
}


def check_holds(found, *, inclusive):
    values = keys(found.lows[0])
    for row, lows, highs in zip(found.nodes[1:-1], found.lows[1:-1], found.highs[1:-1], strict=True):
        low, high = keys(lows), keys(highs)
        assert all(low[node] <= value <= high[node] for value, node in zip(values, row, strict=True))
        assert all(a < b if inclusive else a <= b for a, b in zip(high, low[1:], strict=False))
    assert found.lows[-1].to_pylist() == found.highs[-1].to_pylist() == [None] * len(found.labels[-1])


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_intervals_hold(data):
    type_ = data.draw(st.sampled_from(list(NUMBERS)))
    values = sorted(data.draw(st.sets(NUMBERS[type_], min_size=1, max_size=15)))
    whole = pa.types.is_integer(type_)
    unit = Decimal(data.draw(st.integers(1, 40) if whole else st.sampled_from(["1", "7", "0.25", "0.1", "2.5"])))
    widths = [unit * ratio for ratio in data.draw(WIDTHS)]
    spec = {"intervals": widths, "origin": data.draw(st.integers(-100, 100))}
    found = load(spec, "x").levels(pa.array(values, type_), "x")
    check_nests(found)
    check_holds(found, inclusive=whole)


PARTS = [["month", "quarter", "year", "decade"], ["day", "week"], ["day", "quarter"], ["year"], ["week"]]
MOMENTS = st.datetimes(dt.datetime(1700, 1, 1), dt.datetime(2250, 1, 1))  # noqa: DTZ001 - the tables have none


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_dates_hold(data):
    parts = data.draw(st.sampled_from(PARTS))
    if data.draw(st.booleans()):
        values = sorted(data.draw(st.sets(st.dates(), min_size=1, max_size=15)))
        values = pa.array(values, data.draw(st.sampled_from([pa.date32(), pa.date64()])))
    else:
        values = sorted(data.draw(st.sets(MOMENTS, min_size=1, max_size=15)))
        values = pa.array(values, pa.timestamp("us"))
    found = load({"dates": parts}, "x").levels(values, "x")
    check_nests(found)
    check_holds(found, inclusive=not pa.types.is_timestamp(values.type))


@settings(max_examples=200, deadline=None)
@given(st.sets(st.text("01*a", max_size=5), min_size=1), st.sets(st.integers(1, 6), min_size=1).map(sorted))
def test_masks_nest(codes, lengths):
    found = load({"masks": lengths}, "x").levels(pa.array(sorted(codes)), "x")
    check_nests(found)
    for labels in found.labels:
        assert len(set(labels)) == len(labels)
        assert sorted(code for label in labels for code in found.values[label]) == sorted(codes)
