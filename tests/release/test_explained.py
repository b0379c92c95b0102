"""What rows tell of labels, against what the engine finds; and texts that come as codes."""

from __future__ import annotations

from contextlib import closing
from importlib import import_module
from types import SimpleNamespace

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.engines import connect
from discreet.release.manifest import BoxColumn
from discreet.release.verify.explained import explained, of_side
from discreet.release.verify.runs import kept_of

boxes = import_module("discreet.release.verify.boxes")  # `discreet.release.verify` is also a function
SIDES = [BoxColumn(name=name, type="string", label=name) for name in ("a", "b")]
LABEL = st.sampled_from([None, '["x"]', '["x", "y"]', "z"])
LINE = st.tuples(st.sampled_from(["a", "b", None]), LABEL.filter(bool), st.sampled_from([None, "x", "y"]))


@settings(max_examples=40, deadline=None, derandomize=True)
@given(
    shown=st.lists(st.tuples(LABEL, LABEL), min_size=1, max_size=4),
    more=st.lists(LINE, max_size=3),
    lost=st.integers(0, 9),
)
def test_rows_explain_what_the_engine_finds_explained(shown, more, lost):
    told = {(name, row[at], "x") for row in shown for at, name in enumerate("ab") if row[at] is not None}
    told = [line for at, line in enumerate([*sorted(told), *more]) if at != lost]
    rows = pa.table({name: pa.array([row[at] for row in shown], pa.string()) for at, name in enumerate("ab")})
    lines = pa.table(
        {
            name: pa.array([line[at] for line in told], pa.string())
            for at, name in enumerate(["column", "label", "value"])
        }
    )
    with closing(connect()) as engine:
        engine.load("boxes of groups", rows)
        engine.load("labels file", lines)
        misread, faults = [], []
        for fault in boxes._labels(engine, SIDES):
            (misread if "has others" in fault else faults).append(fault)
    assert explained(rows, lines, SIDES) == (not faults)
    assert len(misread) == sum(boxes._misread(of_side(lines, side)) for side in SIDES)


def test_a_line_without_a_label_is_left_to_the_engine():
    rows = pa.table({"a": ["z"], "b": ["z"]})
    lines = {"column": ["a", "b", "b"], "label": ["z", "z", None], "value": ["z"] * 3}
    assert not explained(rows, pa.table(lines), SIDES)
    assert explained(rows, pa.table(lines).slice(0, 2), SIDES)
    assert not explained(None, pa.table(lines).slice(0, 2), SIDES)
    numbers = [SIDES[0], SIDES[1].model_copy(update={"type": "integer"})]
    assert not explained(rows, pa.table(lines).slice(0, 2), numbers)


def test_bytes_that_are_no_text_are_left_to_the_engine():
    lines = pa.table({"column": ["a", "b"], "label": ["z", "z"], "value": ["z", "z"]})
    right, wrong = pa.array(["z"]), pa.array([b"z\xff"]).view(pa.string())
    assert explained(pa.table({"a": right, "b": right}), lines, SIDES)
    broken = lines.set_column(1, "label", pa.array([b"z", b"z\xff"]).view(pa.string()))
    assert not explained(pa.table({"a": right, "b": wrong}), broken, SIDES)


def test_a_text_with_two_codes_is_in_one_run_too_many():
    promise = SimpleNamespace(group="grp", row="row", sensitive="value", count="n", boxes=SIDES)
    kept = kept_of(promise)
    coded = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, None], pa.int32()), ["x", "x", "y"])
    rows = pa.table({"a": coded, "b": ["y", "y", None, None], "grp": [1, 1, 2, 2], "value": [1, 2, 1, 2]})
    for batch in (rows.slice(0, 1), rows.slice(1)):  # the seam knows them by their texts
        list(kept.passing(batch.to_batches(), "generalized", ("grp", "value")))
    assert pa.Table.from_batches(kept.shown).to_pylist() == [
        {"a": "x", "b": "y", "grp": 1},
        {"a": "y", "b": None, "grp": 2},
        {"a": None, "b": None, "grp": 2},
    ]
    other = kept_of(promise)
    list(other.passing(rows.to_batches(), "generalized", ("grp", "value")))
    assert [row["grp"] for row in pa.Table.from_batches(other.shown).to_pylist()] == [1, 1, 2, 2]
