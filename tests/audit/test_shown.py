"""What runs show of a release's groups, against what the engine reads."""

from __future__ import annotations

import datetime as dt

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import discreet
from discreet.audit.sequence.shown import by_engine, in_runs, shown_by
from discreet.errors import ReleaseError
from discreet.release.release import open_release
from release.forger import Forger

VALUES = {
    pa.int64(): st.integers(-3, 3),
    pa.float64(): st.sampled_from([-0.0, 0.0, 0.5, 1.5, -2.0]),
    pa.string(): st.sampled_from(["a", "b", "c", "", "ä", '["a"]']),
    pa.bool_(): st.booleans(),
    pa.date32(): st.integers(0, 4).map(lambda days: dt.date(2020, 1, 1) + dt.timedelta(days)),
    pa.timestamp("us"): st.datetimes(dt.datetime(2020, 1, 1), dt.datetime(2020, 1, 5)),  # noqa: DTZ001 - without a zone
}
KEYS = [("grp", "ascending"), ("value", "ascending")]


def published(to, table, **options):
    policy = discreet.Policy(
        quasi=table.column_names[:-1],
        sensitive=table.column_names[-1],
        publication="generalization",
        guarantee={"k": 3},
        missing_sensitive="value",
        **options,
    )
    return discreet.publish(table, policy, to=to, seed=1)


@pytest.mark.parametrize("type_", VALUES, ids=str)
@settings(max_examples=4, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_runs_show_what_the_engine_reads(type_, data, tmp_path_factory):
    size = data.draw(st.integers(3, 24))
    columns = {
        f"q{at}": pa.array(data.draw(st.lists(VALUES[kind] | st.none(), min_size=size, max_size=size)), kind)
        for at, kind in enumerate([pa.string(), type_, type_])
    }
    columns |= {"s": columns.pop("q2")}
    folder = tmp_path_factory.mktemp("r")
    release = published(folder / "r", pa.table(columns))
    runs, engine = in_runs(release), by_engine(release)
    assert runs is not None
    assert runs.boxes.schema == engine.boxes.schema
    assert [own(row) for row in runs.boxes.to_pylist()] == [own(row) for row in engine.boxes.to_pylist()]
    assert runs.counts.schema == engine.counts.schema
    assert runs.counts.sort_by(KEYS).to_pylist() == engine.counts.sort_by(KEYS).to_pylist()
    assert (runs.labels, runs.sides) == (engine.labels, engine.sides)


def own(row):
    """There is only one zero."""
    return {name: value + 0.0 if isinstance(value, float) else value for name, value in row.items()}


def ages(size=24):
    return pa.table({"age": [at % 9 for at in range(size)], "s": [f"v{at % 4}" for at in range(size)]})


def test_files_that_runs_cannot_speak_for_are_left_to_the_engine(tmp_path):
    release = published(tmp_path / "r", ages())
    file = release.file("generalized")
    rows = pq.read_table(file)
    assert in_runs(release) is not None
    for change in (
        rows.take(list(reversed(range(len(rows))))),  # groups descend
        rows.sort_by([("group", "ascending"), ("s", "descending")]),  # values do
        rows.set_column(rows.schema.get_field_index("group"), "group", rows["group"].cast(pa.float64())),
    ):
        Forger(release.path).put("generalized", change)
        assert in_runs(open_release(release.path)) is None
        found = shown_by(open_release(release.path))
        assert (len(found.boxes), sum(found.counts["n"].to_pylist())) == (release.promise.groups, len(rows))
    file.write_bytes(b"no Parquet")
    assert in_runs(release) is None


def test_several_boxes_of_a_group_are_refused(tmp_path):
    release = published(tmp_path / "r", ages())

    def change(rows):
        rows[0]["age_low"] -= 1
        return rows

    Forger(release.path).rows("generalized", change, sort=False)
    assert in_runs(open_release(release.path)) is None
    with pytest.raises(ReleaseError, match="several boxes of one group"):
        shown_by(open_release(release.path))


def test_tables_in_parts_and_in_csv(tmp_path):
    policy = {"quasi": ["age"], "sensitive": "s", "publication": "generalization", "guarantee": {"k": 3}}
    whole = published(tmp_path / "r", ages())
    parts = discreet.publish(ages(), discreet.Policy(**policy), to=tmp_path / "p", seed=1, rows_per_part=7)
    assert in_runs(parts).counts.equals(in_runs(whole).counts)
    text = discreet.publish(ages(), discreet.Policy(**policy), to=tmp_path / "c", seed=1, format="csv")
    assert in_runs(text) is None
    assert shown_by(text).boxes.to_pylist() == in_runs(whole).boxes.to_pylist()
