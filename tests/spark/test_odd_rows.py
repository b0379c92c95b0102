"""Odd tables on Spark: every row once, as elsewhere, or refused by name, with nothing left."""

import datetime as dt
from collections import Counter
from decimal import Decimal
from math import isnan

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet
from discreet.errors import DiscreetError
from spark.whole import leftovers, shown

N = 240
ROWS = range(N)
ODD = {
    "values missing in every column": (
        {
            "a": [None if i % 3 == 0 else i % 40 for i in ROWS],
            "b": [None if i % 4 == 0 else "fm"[i % 2] for i in ROWS],
            "s": [None if i % 9 == 0 else i % 7 for i in ROWS],
        },
        {"missing_sensitive": "value"},
    ),
    "columns of one value": ({"a": [1] * N, "b": ["x"] * N, "s": [i % 7 for i in ROWS]}, {}),
    "a column without a value": (
        {"a": pa.array([None] * N, pa.int32()), "b": ["x"] * N, "s": [i % 7 for i in ROWS]},
        {},
    ),
    "names with odd letters": (
        {"Größe in 'cm'": [i % 40 for i in ROWS], '`b`."c"': ["fm"[i % 2] for i in ROWS], "s %20;": [f"ß{i % 7}\n" for i in ROWS]},
        {},
    ),
    "decimals, dates and zeros with a sign": (
        {
            "a": pa.array([Decimal(i % 40) / 4 for i in ROWS], pa.decimal128(9, 2)),
            "b": [(-0.0, 0.0, float("nan"), 1e300)[i % 4] for i in ROWS],
            "s": [dt.date(1582, 10, 1) + dt.timedelta(i % 7) for i in ROWS],
        },
        {"missing_sensitive": "value"},
    ),
}  # fmt: skip


def plain(value):
    """Zeros have no sign, and what is no number is missing."""
    return (None if isnan(value) else value + 0.0) if isinstance(value, float) else value


@pytest.mark.parametrize("partition", ["deal", "mondrian"])
@pytest.mark.parametrize("case", ODD)
def test_odd_tables_are_whole(spark, case, partition, tmp_path):
    columns, more = ODD[case]
    *quasi, sensitive = columns
    table = pa.table(columns)
    pq.write_table(table, tmp_path / "rows.parquet")
    policy = {"quasi": quasi, "sensitive": sensitive, "guarantee": {"l": 3}, "partition": partition, **more}
    release = discreet.publish(str(tmp_path / "rows.parquet"), policy, to=tmp_path / "made", engine=spark)
    assert release.verify().ok
    found = [tuple(map(plain, row.values())) for row in shown(release, "qit").select(quasi).to_pylist()]
    assert Counter(found) == Counter(tuple(map(plain, row.values())) for row in table.select(quasi).to_pylist())
    held = Counter()
    st = shown(release, "st")
    for value, times in zip(st[sensitive].to_pylist(), st["count"].to_pylist(), strict=True):
        held[value] += times
    assert held == Counter(table[sensitive].to_pylist())
    assert leftovers(tmp_path) == []


@pytest.mark.parametrize("rows", [0, 1])
def test_tables_of_no_row_or_one_are_refused(spark, rows, tmp_path):
    table = pa.table({"a": pa.array([1] * rows, pa.int32()), "s": pa.array([2] * rows, pa.int32())})
    pq.write_table(table, tmp_path / "rows.parquet")
    with pytest.raises(DiscreetError) as caught:
        discreet.publish(
            str(tmp_path / "rows.parquet"),
            {"quasi": ["a"], "sensitive": "s", "guarantee": {"k": 2}},
            to=tmp_path / "made",
            engine=spark,
        )
    assert ("no rows" in caught.value.message) == (rows == 0)
    assert [path.name for path in tmp_path.iterdir()] == ["rows.parquet"]


def test_names_that_differ_by_case_are_refused(spark, tmp_path):
    pq.write_table(pa.table({"age": [1, 2], "Age": [1, 2], "s": [1, 2]}), tmp_path / "rows.parquet")
    policy = {"quasi": ["age", "Age"], "sensitive": "s", "guarantee": {"l": 2}}
    with pytest.raises(DiscreetError, match="stands twice"):
        discreet.publish(str(tmp_path / "rows.parquet"), policy, to=tmp_path / "made", engine=spark)
    assert [path.name for path in tmp_path.iterdir()] == ["rows.parquet"]
