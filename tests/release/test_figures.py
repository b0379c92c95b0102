"""What is told of groups without an engine, against what the engine counts."""

import datetime as dt
from contextlib import closing
from decimal import Decimal
from types import SimpleNamespace

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlglot import exp

from discreet.engines import connect
from discreet.release.verify import counted
from discreet.release.verify.boxes import SHOWN, _alike, _halves, _one_each, _whole
from discreet.release.verify.figures import figures
from discreet.release.verify.later import Later, rows_of
from discreet.release.verify.runs import groups_of, kept_of

START = dt.datetime(2020, 1, 1)  # noqa: DTZ001 - tables have no zones
VALUES = {
    pa.int32(): st.sampled_from([-3, 0, 1, 2, 2**31 - 1]),
    pa.uint8(): st.integers(0, 255),
    pa.float64(): st.sampled_from([0.5, 1.5, -0.0, 0.0, float("inf"), float("-inf")]),
    pa.string(): st.sampled_from(["a", "b", "c", ""]),
    pa.date32(): st.integers(0, 4).map(lambda days: START.date() + dt.timedelta(days)),
    pa.timestamp("us"): st.integers(0, 50).map(lambda hours: START + dt.timedelta(hours=hours)),
}
THRESHOLDS = {"k": [1, 2, 5], "l": [1, 2, 3, 2**70], "distinct_l": [1, 2, 3]}


@pytest.mark.parametrize("type_", VALUES, ids=str)
@settings(max_examples=20, deadline=None)
@given(data=st.data())
def test_figures_are_those_of_the_engine(type_, data):
    rows = data.draw(st.lists(st.tuples(st.integers(1, 4), VALUES[type_] | st.none()), min_size=1, max_size=25))
    guarantee = {name: data.draw(st.sampled_from(of)) for name, of in THRESHOLDS.items() if data.draw(st.booleans())}
    if type_ != pa.string() and data.draw(st.booleans()):
        guarantee |= {"k": 2, "e": data.draw(st.sampled_from([0.25, 1, 1.5, 2**40]))}
    if guarantee.get("l", 0) > 2**60:  # the engine multiplies
        guarantee["l"] = 2**55
    table = pa.table({"grp": [row[0] for row in rows], "value": pa.array([row[1] for row in rows], type_)})
    table = table.sort_by([("grp", "ascending"), ("value", "ascending")])
    promise = SimpleNamespace(
        publication="generalization", group="grp", row="row", sensitive="value", count="n", boxes=None, rows=len(rows),
        groups=1, guarantee=guarantee, harmless=None, member=None, person=None, quasi=("other",),
    )  # fmt: skip
    kept = kept_of(promise)
    list(kept.passing(table.to_batches(max_chunksize=7), "generalized", ("grp", "value")))
    found = groups_of(kept, None)
    known = {**counted.PROMISES, **({"k": counted.PROMISES["distinct_l"]} if "e" in guarantee else {})}
    with closing(connect()) as engine:
        engine.load("qit", table)
        engine.load(
            "st", table.group_by(["grp", "value"]).aggregate([([], "count_all")]).rename_columns(["grp", "value", "n"])
        )
        counted.count(engine, promise, found)
        assert figures(*found, guarantee) == counted.counted(engine, known, guarantee)


def test_groups_that_differ_and_values_with_commas_are_left_to_the_engine():
    def held(values):
        table = pa.table({"grp": [1, 1, 2], "value": values})
        kept = kept_of(SimpleNamespace(group="grp", row="row", sensitive="value", count="n", boxes=None))
        list(kept.passing(table.to_batches(), "generalized", ("grp", "value")))
        return groups_of(kept, None)

    rows, values = held(pa.array([Decimal(1), Decimal(2), Decimal(3)]))
    assert figures(rows, values, {"k": 1, "e": 1}) is None
    assert figures(rows, values, {"k": 1}) is not None
    assert figures(rows.slice(1), values, {"k": 1}) is None
    far = held(pa.array([-(2**63), 1, 2**63 - 1]))
    assert figures(*far, {"k": 1, "e": 1}) is None


ENDS = st.sampled_from([None, -1.0, 0.0, 2.0, float("inf"), float("nan")])


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.integers(1, 3), ENDS, ENDS, st.sampled_from([None, True, False])), min_size=1, max_size=5))
def test_what_is_called_whole_is_whole_to_the_engine(drawn):
    drawn.sort(key=lambda row: row[0])
    names = ["grp", "low", "high", "missing"]
    rows = pa.table(dict(zip(names, map(list, zip(*drawn, strict=True)), strict=True)))
    rows = rows.cast(
        pa.schema([("grp", pa.int64()), ("low", pa.float64()), ("high", pa.float64()), ("missing", pa.bool_())])
    )
    with closing(connect()) as engine:
        engine.load("boxes of groups", rows)
        assert _alike(engine, "grp") == _one_each(rows, "grp")
        for missing in (None, "missing"):
            side = SimpleNamespace(name="x", type="number", low="low", high="high", missing=missing, label=None)
            if _whole(rows, side):
                assert not list(_halves(engine, [side]))
    side = SimpleNamespace(name="x", type="number", low="low", high="high", missing="missing", label=None)
    sound = pa.table({"low": [1.0, None], "high": [1.0, None], "missing": [False, True]})
    assert _whole(sound, side)


def test_an_engine_is_opened_when_asked():
    opened = []

    def connecting():
        opened.append(connect())
        return opened[-1]

    rows = pa.table({"a": [1, 2]})
    with closing(Later(connecting)) as engine:
        engine.load("b", pa.table({"a": [9]}), keep=False)
        engine.load(SHOWN, rows, keep=False)
        engine.load("b", exp.select("a").from_(f'"{SHOWN}"'), keep=False)
        assert rows_of(engine, SHOWN) is rows
        assert rows_of(engine, "b") is None
        assert not opened
        assert engine.run("SELECT SUM(a) AS a FROM b").to_pydict() == {"a": [3]}
        assert len(opened) == 1
        assert rows_of(engine, SHOWN) is None
        engine.load("c", rows)
        assert engine.schema("c").names == ["a"]
    assert len(opened) == 1
    Later(connecting).close()
    assert len(opened) == 1
