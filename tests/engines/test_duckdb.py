"""The few verbs of an engine, on DuckDB; and no word of the driver that quotes a cell."""

import csv
import datetime as dt
import os
import subprocess
import sys
import tempfile
from threading import Thread

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sqlglot import exp, parse_one

from discreet.engines import connect
from discreet.errors import DiscreetError, EngineError, InputError

ROWS = pa.table({"age": [31, 47, None], "two words": ["x", "", None]})


def sql(text):
    return parse_one(text, dialect="duckdb")


@pytest.fixture
def engine():
    made = connect()
    yield made
    made.close()


def test_unknown_engine():
    with pytest.raises(InputError, match="unknown engine `oracle`") as caught:
        connect("oracle")
    assert "duckdb" in caught.value.hint


@pytest.mark.parametrize("keep", [True, False])
def test_load_rows(engine, keep):
    engine.load("a table; DROP", ROWS, keep=keep)
    assert engine.run(exp.select("*").from_(exp.to_table('"a table; DROP"', dialect="duckdb"))).equals(ROWS)


@pytest.mark.parametrize("keep", [True, False])
def test_load_a_query(engine, keep):
    engine.load("t", ROWS)
    engine.load("old", sql("SELECT age FROM t WHERE age > 40"), keep=keep)
    assert engine.run(sql("SELECT * FROM old")).to_pydict() == {"age": [47]}


@pytest.mark.parametrize("keep", [True, False])
@pytest.mark.parametrize("name", ["t.parquet", "it's [a] *?.parquet", "t.csv", "it's [a] *?.csv"])
def test_store_and_load_a_file(engine, tmp_path, name, keep):
    engine.load("t", ROWS)
    engine.store(sql("SELECT * FROM t ORDER BY age DESC NULLS LAST"), tmp_path / name)
    engine.load("again", tmp_path / name, keep=keep)
    assert engine.run(sql("SELECT * FROM again")).to_pydict() == {"age": [47, 31, None], "two words": ["", "x", None]}


def test_store_keeps_the_order(engine, tmp_path):
    engine.store(sql("SELECT i, hash(i) AS h FROM range(300000) AS t(i) ORDER BY h"), tmp_path / "t.parquet")
    stored = pq.read_table(tmp_path / "t.parquet")["h"].to_numpy()
    assert (stored[1:] >= stored[:-1]).all()


def test_store_writes_plain_csv(engine, tmp_path):
    rows = [['say "hi"', "a,b", "a\nb", "", None, "é"], [1, 2, 3, 4, 5, 6]]
    engine.load("t", pa.table(rows, names=["text; here", "n"]))
    engine.store(sql("SELECT * FROM t"), tmp_path / "t.csv")
    with (tmp_path / "t.csv").open(encoding="utf-8", newline="") as file:
        read = list(csv.reader(file))
    assert read == [["text; here", "n"], *([text or "", str(n)] for text, n in zip(*rows, strict=True))]


def test_a_csv_file_is_read_with_the_types_that_are_told(engine, tmp_path):
    (tmp_path / "t.csv").write_text("zip,n,day\n10,1,2020-01-02\n9,2,\n", encoding="utf-8")
    engine.load("t", tmp_path / "t.csv", kinds={"zip": "string", "n": "number", "day": "date"})
    assert engine.schema("t") == pa.schema({"zip": pa.string(), "n": pa.float64(), "day": pa.date32()})
    assert engine.run(sql("SELECT * FROM t")).to_pylist()[0] == {"zip": "10", "n": 1.0, "day": dt.date(2020, 1, 2)}


def test_schema(engine):
    engine.load("t", ROWS)
    assert engine.schema("t") == ROWS.schema


def test_run_text_again_and_again(engine):
    """A query that comes as text is prepared once; the second time it must still be the same query."""
    engine.load("t", ROWS)
    texts = [f"SELECT SUM(age) + {i} AS x FROM t" for i in range(5)]
    for _ in range(2):
        assert [engine.run(text)["x"][0].as_py() for text in texts] == [78 + i for i in range(5)]
    with pytest.raises(EngineError):
        engine.run("SELECT SUM(nothing) FROM t")
    assert [engine.run(text)["x"][0].as_py() for text in texts] == [78 + i for i in range(5)]


def test_seal(engine, tmp_path):
    engine.load("t", ROWS)
    engine.store(sql("SELECT * FROM t"), tmp_path / "before.csv")
    engine.seal()
    assert len(engine.run(sql("SELECT * FROM t"))) == 3
    engine.load("more", sql("SELECT age FROM t"))
    assert len(engine.run(sql("SELECT * FROM more"))) == 3
    for act in (
        lambda: engine.load("x", tmp_path / "before.csv"),
        lambda: engine.load("x", tmp_path / "before.csv", keep=False),
        lambda: engine.store(sql("SELECT * FROM t"), tmp_path / "after.csv"),
        lambda: engine.run(sql("SELECT * FROM read_text('/etc/hostname')")),
        lambda: engine.run(sql("SELECT * FROM glob('/*')")),
        lambda: engine.run("SELECT * FROM '/etc/passwd'"),
        lambda: engine.run("SET enable_external_access = true"),
        lambda: engine.run("RESET lock_configuration"),
        lambda: engine.run("ATTACH 'x.db'"),
        lambda: engine.run("INSTALL httpfs"),
    ):
        with pytest.raises(DiscreetError):
            act()
    assert [path.name for path in tmp_path.iterdir()] == ["before.csv"]


def test_an_engine_cannot_see_the_variables_of_python(engine):
    """DuckDB offers every frame in sight as a table; a query must find nothing but what was loaded."""
    secret = ROWS
    assert secret is not None
    with pytest.raises(EngineError):
        engine.run(sql("SELECT * FROM secret"))
    with pytest.raises(EngineError):
        engine.run(sql("SELECT * FROM ROWS"))


def test_close_lets_go_of_the_folder_to_spill_to(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    made = connect()
    assert len(list(tmp_path.iterdir())) == 1
    made.close()
    assert list(tmp_path.iterdir()) == []
    made.close()


def test_close_waits_for_a_query_of_another_thread(tmp_path):
    """A thread that was being started when Ctrl-C came is waited for by nobody else."""
    made, path = connect(), tmp_path / "rows.parquet"
    query = sql("SELECT hash(i) AS h FROM range(5000000) AS t(i)")
    writer = Thread(target=made.store, args=(query, path), daemon=True)
    writer.start()
    while writer.is_alive() and not any(tmp_path.iterdir()):
        pass
    made.close()
    writer.join(60)
    assert pq.read_metadata(path).num_rows == 5_000_000


@pytest.mark.parametrize(
    "act",
    [
        lambda engine: engine.run(sql("SELECT 1")),
        lambda engine: engine.load("t", ROWS),
        lambda engine: engine.load("t", ROWS, keep=False),
        lambda engine: engine.schema("t"),
        lambda engine: engine.seal(),
    ],
    ids=["run", "load", "register", "schema", "seal"],
)
def test_a_closed_engine(act):
    made = connect()
    made.close()
    with pytest.raises(EngineError):
        act(made)


@pytest.mark.parametrize("limit", ["lots", "", "-5GB", "5 bananas"])
def test_memory_limits_that_are_none(limit):
    with pytest.raises(InputError, match="is not a memory limit") as caught:
        connect(memory_limit=limit)
    assert "4GB" in caught.value.hint


def test_too_little_memory():
    made = connect(memory_limit="20MB")
    try:
        with pytest.raises(EngineError, match="ran out of memory") as caught:
            made.run(sql("SELECT LIST(i || 'secret') FROM range(3000000) AS t(i)"))
        assert "memory_limit" in caught.value.hint
        assert "secret" not in str(caught.value)
    finally:
        made.close()


@pytest.mark.parametrize("name", ["t.parquet", "t.csv", "no/t.csv"])
def test_files_that_are_not_there(engine, tmp_path, name):
    with pytest.raises(DiscreetError):
        engine.load("t", tmp_path / name)
    with pytest.raises(EngineError):
        engine.store(sql("SELECT 1 AS x"), tmp_path / "no" / name)


@pytest.mark.parametrize("type_", ["half", "decimal"])
def test_rows_that_duckdb_does_not_take(engine, type_):
    column = pa.array([0], pa.int8()).cast(pa.float32()).cast(pa.float16()) if type_ == "half" else None
    column = pa.array([10**50], pa.decimal256(60, 0)) if column is None else column
    for keep in (True, False):
        with pytest.raises(EngineError):
            engine.load("t", pa.table({"x": column}), keep=keep)


TEXTS = {
    "plain": "plainsecret",
    "apostrophe": "it's secret",
    "apostrophes": "a'b'c secret 'd",
    "quotes": 'say "secret" x',
    "lines": "secret\nsecret",
    "backslash": "\\' secret",
    "dots": "'…' secret '…",
}


@pytest.mark.parametrize("wanted", ["INTEGER", "DATE", "TIMESTAMP", "BOOLEAN", "UUID", "DECIMAL(4, 2)", "TIME", "BIT"])
@pytest.mark.parametrize("text", TEXTS)
def test_no_error_quotes_a_text(engine, text, wanted):
    engine.load("t", pa.table({"x": [TEXTS[text]]}))
    with pytest.raises(EngineError) as caught:
        engine.run(sql(f"SELECT CAST(x AS {wanted}) FROM t"))
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    "question",
    ["x + x", "x * 3", "CAST(x AS INTEGER)", "CAST(x AS DECIMAL(4, 1))", "CAST(x AS TINYINT)", "DATE '2020-01-01' + x"],
)
def test_no_error_quotes_a_number(engine, question):
    engine.load("t", pa.table({"x": [9_223_372_036_424_242_424]}))
    with pytest.raises(EngineError) as caught:
        engine.run(sql(f"SELECT {question} FROM t"))
    assert "424242" not in str(caught.value)


def test_no_error_quotes_a_line_of_a_csv_file(engine, tmp_path):
    for name, text in {
        "ragged": "a,b\n1,2\nsecret,3,secret\n",
        "quote": 'a,b\n1,"secret\n',
        "bytes": b"a,b\nsecret,\xff\n",
        "typed": "a,b\nsecret,secret\n",
    }.items():
        path = tmp_path / f"{name}.csv"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        with pytest.raises(DiscreetError) as caught:
            engine.load(name, path, kinds={"a": "integer", "b": "integer"} if name == "typed" else None)
        assert "secret" not in str(caught.value)


def test_no_error_has_the_drivers_own_behind_it(engine):
    """A traceback prints the cause of an error; the driver's own quotes the value."""
    engine.load("t", pa.table({"x": ["it's secret"]}))
    with pytest.raises(EngineError) as caught:
        engine.run(sql("SELECT CAST(x AS INTEGER) FROM t"))
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__


def test_the_clock_of_the_machine_changes_nothing(tmp_path):
    """Time zones: the same release must give the same answer everywhere."""
    program = """
import sys, datetime as dt, pyarrow as pa
from sqlglot import parse_one
from discreet.engines import connect
engine = connect()
times = pa.array([dt.datetime(2020, 1, 1, 23, 30)], pa.timestamp("us", tz="UTC"))
engine.load("t", pa.table({"x": times}))
query = "SELECT CAST(x AS DATE) AS d, EXTRACT(hour FROM x) AS h, CAST(x AS VARCHAR) AS t, x > TIMESTAMP '2020-01-02' AS later FROM t"
print(engine.run(parse_one(query, dialect="duckdb")).to_pylist())
"""
    shown = {
        subprocess.run(
            [sys.executable, "-c", program], env={**os.environ, "TZ": zone}, capture_output=True, text=True, check=True
        ).stdout
        for zone in ("UTC", "Asia/Tokyo")
    }
    assert len(shown) == 1, shown


@pytest.mark.parametrize("act", ["run(query)", "load('t', query)", "store(query, Path('t.parquet'))"])
def test_a_query_that_is_interrupted(tmp_path, act):
    """Ctrl-C in a long query is a KeyboardInterrupt, not an error of the driver."""
    program = f"""
import os, signal, threading
from pathlib import Path
from sqlglot import parse_one
from discreet.engines import connect
engine = connect()
query = parse_one("SELECT COUNT(*) AS n FROM range(400000000) AS t(i) WHERE hash(i) = 3", dialect="duckdb")
threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    engine.{act}
except KeyboardInterrupt:
    print("stopped")
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=60, cwd=tmp_path
    )
    assert (done.stdout, done.stderr) == ("stopped\n", "")
