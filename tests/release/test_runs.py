"""What runs tell of groups, against what the engine counts."""

import datetime as dt
from contextlib import closing
from importlib import import_module
from types import SimpleNamespace

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.engines import connect
from discreet.release.verify import counted as by_engine
from discreet.release.verify.runs import kept_of

contents = import_module("discreet.release.verify.contents")  # `discreet.release.verify` is also a function
VALUES = {
    pa.int32(): st.integers(-3, 3),
    pa.float64(): st.sampled_from([0.5, 1.5, -2.0, float("inf")]),
    pa.string(): st.sampled_from(["a", "b", "c", ""]),
    pa.date32(): st.integers(0, 4).map(lambda days: dt.date(2020, 1, 1) + dt.timedelta(days)),
}
KEYS = [("grp", "ascending"), ("value", "ascending")]


def counted(engine, promise, found):
    """What is made known of groups, by group."""
    by_engine.count(engine, promise, found)
    names = by_engine.ROWS_OF, by_engine.VALUES_OF
    found = [engine.run(f'SELECT * FROM "{name}" ORDER BY grp').to_pylist() for name in names]
    return [[{key: None if row[key] == 0 else row[key] for key in sorted(row)} for row in rows] for rows in found]


@pytest.mark.parametrize("publication", ["anatomy", "generalization", "permutation"])
@pytest.mark.parametrize("type_", VALUES, ids=str)
@settings(max_examples=10, deadline=None)
@given(data=st.data())
def test_runs_tell_what_the_engine_counts(publication, type_, data):
    values = VALUES[type_] | st.none()
    rows = data.draw(st.lists(st.tuples(st.integers(1, 4), values), min_size=1, max_size=25))
    spared = data.draw(st.sampled_from([None, 1])) if type_ == pa.int32() else None
    table = pa.table({"grp": [row[0] for row in rows], "value": pa.array([row[1] for row in rows], type_)})
    table = table.sort_by(KEYS if publication != "permutation" else KEYS[:1])
    held = table.group_by(["grp", "value"]).aggregate([([], "count_all")]).rename_columns(["grp", "value", "n"])
    held = held.sort_by(KEYS)
    promise = SimpleNamespace(
        publication=publication, group="grp", row="row", sensitive="value", count="n", boxes=None, rows=len(rows), groups=1,
        guarantee={"k": 1, "e": 1}, harmless=None if spared is None else (spared,), member=None, person=None, quasi=("other",),
    )  # fmt: skip
    kept = kept_of(promise)
    files = {"anatomy": [(table.select(["grp"]), ("grp", "other")), (held, ("grp", "value"))]}
    order = ("grp", "value") if publication == "generalization" else ("grp", "other", "value")
    for file, columns in files.get(publication, [(table, order)]):
        list(kept.passing(file.to_batches(max_chunksize=7), publication, columns))
    assert contents.groups_of(kept, None) is not None
    with closing(connect()) as one, closing(connect()) as other:
        for engine in (one, other):
            engine.load("qit", table)
            engine.load("st", held)
            engine.load("harmless", pa.table({"value": pa.array([spared], type_)}))
        harmless = None if spared is None else pa.array([spared], type_)
        assert counted(one, promise, contents.groups_of(kept, harmless)) == counted(other, promise, None)


def test_numbers_that_are_none_are_left_to_the_engine():
    promise = SimpleNamespace(group="grp", row="row", sensitive="value", count="n", boxes=None)
    for groups, counts in (
        ([1, None], [1, 1]),
        ([1.0, 2.0], [1, 1]),
        ([1, 2], [1, 3]),
        ([1, 2], [0, 2]),
        ([-1, 2], [1, 1]),
    ):
        kept = kept_of(promise)
        list(kept.passing(pa.table({"grp": groups}).to_batches(), "rows", ("grp", "other")))
        list(
            kept.passing(pa.table({"grp": groups, "value": [1, 2], "n": counts}).to_batches(), "held", ("grp", "value"))
        )
        assert contents.groups_of(kept, None) is None
