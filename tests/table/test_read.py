"""Reading the private table: every source gives the same rows, and nothing is taken for something else."""

import datetime as dt
import gc
import math
import warnings
from decimal import Decimal

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet import read
from discreet.errors import EngineError, InputError
from discreet.table.faults import unreadable

ROWS = [
    {"age": 34, "height": 1.75, "born": dt.date(1990, 5, 1), "member": True, "city": "Delft"},
    {"age": 27, "height": None, "born": dt.date(1997, 12, 31), "member": False, "city": ""},
    {"age": None, "height": 1.6, "born": None, "member": None, "city": None},
    {"age": 34, "height": 1.75, "born": dt.date(1990, 5, 1), "member": True, "city": "Den Haag, centrum"},
]
KINDS = {"age": "integer", "height": "float", "born": "date", "member": "boolean", "city": "string"}
CSV = (
    "age,height,born,member,city\n"
    "34,1.75,1990-05-01,true,Delft\n"
    '27,,1997-12-31,false,""\n'
    ",1.6,,,\n"
    '34,1.75,1990-05-01,true,"Den Haag, centrum"\n'
)
NAMES = [
    "first name",
    'say "hi"',
    "it's",
    "a;b",
    "a,b",
    "a.b",
    "select",
    "group",
    "count",
    "null",
    "n",
    "key_0",
    "private",
    "source table",
    "1",
    "%",
    "?",
    ":p",
    "$1",
    "{x}",
    "[x]",
    "`x`",
    "\\",
    "--",
    "/* x */",
    "línea ✓",
    'x"; DROP TABLE "private"; --',
    "(SELECT 1)",
]


def rows(table):
    """All rows as the engine holds them."""
    return table.engine.run(table.select(table.names())).to_pylist()


def column(values, type_=None):
    """One column after it was read."""
    return [row["x"] for row in rows(read(pa.table({"x": pa.array(values, type_)})))]


def written(tmp_path, text, name="table.csv"):
    path = tmp_path / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def parquet(tmp_path):
    pq.write_table(arrow(), tmp_path / "people.parquet")
    return tmp_path / "people.parquet"


def arrow():
    types = {"age": pa.int64(), "height": pa.float64(), "born": pa.date32(), "member": pa.bool_(), "city": pa.string()}
    return pa.Table.from_pylist(ROWS, schema=pa.schema(types))


def pandas_frame():
    frame = pd.DataFrame(ROWS).astype({"age": "Int64", "height": "float64", "member": "boolean", "city": "string"})
    return frame.set_axis(["p", "p", "q", "r"], axis=0)


def duckdb_relation():
    people = arrow()  # noqa: F841 - found by its name
    return duckdb.sql("SELECT * FROM people")


SOURCES = {
    "csv": lambda tmp_path: written(tmp_path, CSV, "people.csv"),
    "csv, path as text": lambda tmp_path: str(written(tmp_path, CSV, "people.csv")),
    "csv with semicolons": lambda tmp_path: written(
        tmp_path, CSV.replace('"Den Haag, centrum"', "Den Haag@ centrum").replace(",", ";").replace("@", ",")
    ),
    "csv with tabs": lambda tmp_path: written(
        tmp_path, CSV.replace('"Den Haag, centrum"', "Den Haag@ centrum").replace(",", "\t").replace("@", ",")
    ),
    "csv from Windows": lambda tmp_path: written(tmp_path, "\ufeff" + CSV.replace("\n", "\r\n")),
    "parquet": parquet,
    "pyarrow table": lambda tmp_path: arrow(),
    "pyarrow batches": lambda tmp_path: arrow().to_reader(max_chunksize=1),
    "pandas": lambda tmp_path: pandas_frame(),
    "polars": lambda tmp_path: pl.DataFrame(arrow()),
    "duckdb relation": lambda tmp_path: duckdb_relation(),
}


@pytest.mark.parametrize("source", SOURCES.values(), ids=list(SOURCES))
def test_every_source_gives_the_same_rows(tmp_path, source):
    table = read(source(tmp_path))
    assert {c.name: c.kind for c in table.columns} == KINDS
    assert rows(table) == ROWS
    assert table.rows == 4


def test_the_name_of_a_table(tmp_path):
    path = written(tmp_path, CSV, "people of 2026-11.csv")
    assert read(path).name == "people_of_2026_11"
    assert read(path, name="people").name == "people"
    assert read(arrow()).name == "microdata"


@pytest.mark.parametrize("folder", ["it's", "a [b] c", "a*b?", 'say "hi"', "x; DROP TABLE private"])
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_any_path(tmp_path, folder, kind):
    place = tmp_path / folder
    place.mkdir()
    assert rows(read(SOURCES[kind](place))) == ROWS


def test_brackets_in_a_path_are_not_a_pattern(tmp_path):
    written(tmp_path, "x\n1\n", "a1.csv")
    assert rows(read(written(tmp_path, "x\n2\n", "a[1].csv"))) == [{"x": 2}]


@pytest.mark.parametrize(
    "index",
    [
        pd.RangeIndex(10, 12),
        pd.Index([7, 7]),
        pd.Index(["Ann", "Bob"], name="name"),
        pd.Index(["Ann", "Bob"], name="age"),
        pd.MultiIndex.from_tuples([("Ann", 1), ("Bob", 2)], names=["name", None]),
        pd.DatetimeIndex(["2020-01-01", "2020-01-02"]),
        pd.CategoricalIndex(["Ann", "Bob"]),
    ],
    ids=["range", "repeated", "named", "named like a column", "two levels", "dates", "categories"],
)
def test_a_pandas_index_stays_behind(index):
    frame = pd.DataFrame({"age": [1, 2], "zip": ["a", "b"]}, index=index)
    expected = [{"age": 1, "zip": "a"}, {"age": 2, "zip": "b"}]
    assert rows(read(frame)) == expected
    assert rows(read(pa.Table.from_pandas(frame))) == expected


def test_an_arrow_table_whose_pandas_index_was_dropped_already():
    table = pa.Table.from_pandas(pd.DataFrame({"age": [1, 2]}, index=["Ann", "Bob"]))
    assert rows(read(table.select(["age"]))) == [{"age": 1}, {"age": 2}]


def test_rows_keep_their_order():
    """Codes and groups lie beside the rows by position, so every scan must give the same order."""
    values = np.random.default_rng(1).permutation(300_000)
    table = read(pa.table({"x": values, "y": values[::-1]}))
    codes = table.codes("x")
    assert np.array_equal(codes.codes, values)
    assert np.array_equal(table.codes("y").codes, values[::-1])


def test_nan_is_missing_and_minus_zero_is_zero():
    for type_ in (pa.float64(), pa.float32()):
        read_back = column([math.nan, -0.0, 0.0, None, math.inf, -math.inf, 1.5], type_)
        assert read_back == [None, 0.0, 0.0, None, math.inf, -math.inf, 1.5]
        assert [math.copysign(1, value) for value in read_back[1:3]] == [1, 1]
    codes = read(pa.table({"x": [math.nan, -0.0, 0.0, None]})).codes("x")
    assert codes.codes.tolist() == [1, 0, 0, 1]


def test_nan_in_a_csv_file_is_missing(tmp_path):
    assert [r["x"] for r in rows(read(written(tmp_path, "x,y\nnan,1\n-0.0,2\n2.5,3\n,4\n")))] == [None, 0.0, 2.5, None]


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_nan_in_a_frame_is_missing(make):
    assert [r["x"] for r in rows(read(make({"x": [math.nan, -0.0, 1.0]})))] == [None, 0.0, 1.0]


def test_an_empty_string_is_not_missing(tmp_path):
    assert column(["", None, " ", "NaN", "null"]) == ["", None, " ", "NaN", "null"]
    path = written(tmp_path, 'x,y\n"",1\n,2\n" ",3\nNULL,4\nNA,5\nnan,6\n')
    assert [r["x"] for r in rows(read(path))] == ["", None, " ", "NULL", "NA", "nan"]


def test_an_empty_field_of_a_csv_file_is_missing(tmp_path):
    path = written(tmp_path, "a,b,c\n1,x,\n,,2020-01-01\n")
    assert rows(read(path)) == [
        {"a": 1, "b": "x", "c": None},
        {"a": None, "b": None, "c": dt.date(2020, 1, 1)},
    ]


def test_the_last_line_of_a_csv_file_needs_no_end(tmp_path):
    assert rows(read(written(tmp_path, "a,b\n1,x\n2,y"))) == [{"a": 1, "b": "x"}, {"a": 2, "b": "y"}]


def test_fields_with_delimiters_quotes_and_lines(tmp_path):
    path = written(tmp_path, 'a,b\n1,"x, ""y""\nz"\n2,;|\t\n')
    assert rows(read(path)) == [{"a": 1, "b": 'x, "y"\nz'}, {"a": 2, "b": ";|\t"}]


def test_nothing_in_a_csv_file_is_a_comment_or_a_preamble(tmp_path):
    """A layout that is guessed would drop the rows that do not fit it."""
    path = written(tmp_path, "a,b\n#1,x\n#2,y\nplain,z\n")
    assert [r["a"] for r in rows(read(path))] == ["#1", "#2", "plain"]


def test_a_type_is_guessed_from_every_row(tmp_path):
    path = written(tmp_path, "a,b\n" + "1,x\n" * 50_000 + "one,y\n")
    assert read(path)["a"].kind == "string"


def test_leading_zeros_are_kept(tmp_path):
    path = written(tmp_path, "zipcode,n\n02139,1\n00501,2\n2139,3\n")
    assert [r["zipcode"] for r in rows(read(path))] == ["02139", "00501", "2139"]


def test_categories_are_their_labels():
    frame = pd.DataFrame({"x": pd.Categorical(["b", None, "a"], categories=["c", "b", "a"], ordered=True)})
    expected = [{"x": "b"}, {"x": None}, {"x": "a"}]
    assert rows(read(frame)) == expected
    assert rows(read(pa.table({"x": pa.array(["b", None, "a"]).dictionary_encode()}))) == expected
    assert rows(read(pl.DataFrame({"x": ["b", None, "a"]}, schema={"x": pl.Categorical}))) == expected
    assert rows(read(pl.DataFrame({"x": ["b", None, "a"]}, schema={"x": pl.Enum(["c", "b", "a"])}))) == expected
    assert read(frame).codes("x").domain.to_pylist() == ["a", "b"]
    assert rows(read(pd.DataFrame({"x": pd.Categorical([3, 1, 3])}))) == [{"x": 3}, {"x": 1}, {"x": 3}]


@pytest.mark.parametrize(
    ("values", "type_", "kind"),
    [
        ([2**64 - 1, 0], pa.uint64(), "integer"),
        ([-128, 127], pa.int8(), "integer"),
        ([Decimal("1.50"), Decimal("-2.25")], pa.decimal128(9, 2), "decimal"),
        ([dt.time(1, 2, 3, 4), dt.time(23)], pa.time64("us"), "time"),
        ([dt.datetime(2020, 1, 1, 2, 3, 4, 5)] * 2, pa.timestamp("us"), "timestamp"),  # noqa: DTZ001
        ([dt.datetime(2020, 1, 1, 2, 3, 4)] * 2, pa.timestamp("s"), "timestamp"),  # noqa: DTZ001
        (["a", "b"], pa.large_string(), "string"),
        (["a", "b"], pa.string_view(), "string"),
        ([True, False], pa.bool_(), "boolean"),
    ],
    ids=str,
)
def test_kinds_of_values(values, type_, kind):
    table = read(pa.table({"x": pa.array(values, type_)}))
    assert table["x"].kind == kind
    assert [row["x"] for row in rows(table)] == values


@pytest.mark.parametrize(
    "values",
    [
        pa.array([[1], [2]]),
        pa.array([{"a": 1}]),
        pa.array([b"x"]),
        pa.array([dt.timedelta(1)]),
        pa.nulls(2),
        pa.array(np.array([1.5, 2.5], np.float16), pa.float16()),
    ],
    ids=lambda values: str(values.type),
)
def test_a_type_that_cannot_be_published_is_read_and_can_be_dropped(values):
    table = read(pa.table({"x": values, "y": range(len(values))}))
    assert table["x"].kind is None or table["x"].kind == "float"
    assert table.codes("y").size == len(values)


@pytest.mark.parametrize("name", NAMES)
def test_any_column_name(tmp_path, name):
    other = "other"
    table = read(pa.table({name: [2, None, 1], other: ["a", "b", "b"]}))
    assert rows(table) == [{name: 2, other: "a"}, {name: None, other: "b"}, {name: 1, other: "b"}]
    assert table.codes(name).codes.tolist() == [1, 2, 0]
    assert table.codes(name, present=name).codes.tolist() == [1, 0]
    assert table.count(present=name) == 2
    header = f'"{name.replace(chr(34), chr(34) * 2)}",{other}\n'
    assert rows(read(written(tmp_path, header + "2,a\n,b\n1,b\n"))) == rows(table)


def test_all_column_names_together(tmp_path):
    table = pa.table({name: [number] for number, name in enumerate(NAMES)})
    assert rows(read(table)) == table.to_pylist()
    pq.write_table(table, tmp_path / "names.parquet")
    assert rows(read(tmp_path / "names.parquet")) == table.to_pylist()


@pytest.mark.parametrize(
    "header", ["a,a", "a,A", " a,a", "a,", 'a,""', "a, "], ids=["twice", "case", "space", "none", "empty", "blank"]
)
def test_every_column_needs_a_name_of_its_own(tmp_path, header):
    with pytest.raises(InputError, match=r"stands twice|has no name"):
        read(written(tmp_path, f"{header}\n1,2\n"))


def test_frames_need_names_too():
    with pytest.raises(InputError, match="stands twice"):
        read(pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["a", "A"]))
    with pytest.raises(InputError, match="stands twice"):
        read(pd.DataFrame([[1, 2]], columns=["a", "a"]))
    with pytest.raises(InputError, match="has no name"):
        read(pa.Table.from_arrays([pa.array([1])], names=[""]))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n1,2\n3\n", "line 3 has 1 fields, expected 2"),
        ("a,b\n1,2\n3,4,5\n", "line 3 has 3 fields, expected 2"),
        ("a,b\n1,2\n3,\xe9\n".encode("latin-1"), "line 3 is not UTF-8"),
        ('a,b\n1,2\n3,"x\n', "never closed"),
        ("", "is empty"),
    ],
    ids=["short", "long", "latin-1", "quote", "empty"],
)
def test_a_damaged_csv_file(tmp_path, text, message):
    with pytest.raises(InputError, match=message):
        read(written(tmp_path, text))


def test_a_message_shows_no_cell(tmp_path):
    for text in ("name,x\nSECRET,1\nSECRET\n", 'name,x\nSECRET,"1\n', "name,x\nSECRET,\xff\n".encode("latin-1")):
        with pytest.raises(InputError) as caught:
            read(written(tmp_path, text))
        assert "SECRET" not in str(caught.value)
        assert caught.value.__cause__ is None


def test_a_field_longer_than_the_reader_takes(tmp_path):
    """Whatever is said, it must not be that a quote is open."""
    path = written(tmp_path, "a,b\n1," + "x" * 3_000_000 + "\n")
    try:
        assert len(rows(read(path))[0]["b"]) == 3_000_000
    except InputError as error:
        assert "quote" not in str(error)  # noqa: PT017 - either outcome is right


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda place: place / "absent.csv", "there is no file"),
        (lambda place: place, "is a folder"),
        (lambda place: written(place, "x", "table.xlsx"), "is not an Excel file"),
        (lambda place: written(place, "x", "table.sav"), "is not a `.csv`, `.csv.gz`, `.parquet` or `.xlsx` file"),
        (lambda place: written(place, "no parquet", "table.parquet"), "is not a Parquet file"),
        (lambda place: {"a": [1]}, "cannot read a dict"),
        (lambda place: [1, 2], "cannot read a list"),
        (lambda place: None, "cannot read a NoneType"),
        (lambda place: pa.table({}), "column"),
        (lambda place: pd.DataFrame({"a": [1, "x"]}), "mixed types"),
    ],
    ids=["absent", "folder", "excel", "another", "no parquet", "dict", "list", "none", "no columns", "mixed"],
)
def test_what_is_not_a_table(tmp_path, make, message):
    with pytest.raises(InputError, match=message):
        read(make(tmp_path))


def test_a_table_without_rows(tmp_path):
    assert read(written(tmp_path, "a,b\n")).rows == 0
    assert read(arrow().slice(0, 0)).rows == 0


def test_a_table_does_not_print_its_rows():
    table = read(arrow())
    for shown in (repr(table), table._repr_html_()):
        assert "4 rows" in shown
        assert "Delft" not in shown


def test_a_table_that_is_let_go_complains_of_nothing():
    """The call site of the design closes nothing: reading, publishing and asking must not warn about it."""
    gc.collect()
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        table = read(arrow())
        assert table.rows == 4
        del table
        gc.collect()
    assert [str(warning.message) for warning in heard] == []


def test_texts_stay_texts(tmp_path):
    path = tmp_path / "few.csv"
    path.write_text('zip,"a, ""b""",n\n8011,true,1\n')
    with read(path) as guessed, read(path, texts=["zip", 'a, "b"', "no such column"]) as told:
        assert [column.kind for column in guessed.columns] == ["integer", "boolean", "integer"]
        assert [column.kind for column in told.columns] == ["string", "string", "integer"]
        assert told.engine.run(told.select(["zip"])).to_pylist() == [{"zip": "8011"}]


def test_too_little_memory_is_not_the_fault_of_the_file(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n1,x\n")
    with read(tmp_path / "t.csv", memory_limit="20MB") as table:
        lacking = EngineError("the engine ran out of memory", hint="give it more with `memory_limit`")
        with (
            pytest.raises(InputError, match="cannot be read: the engine ran out of memory") as caught,
            table._reading(),
        ):
            raise lacking
    assert "memory_limit" in caught.value.hint
    assert "memory_limit" in unreadable(tmp_path / "t.csv", lacking).hint
