"""Every engine says in its own words what engines say differently; and no word of one stands outside of its folder."""

import ast
import datetime as dt
import re
from decimal import Decimal
from importlib import import_module
from pathlib import Path

import pyarrow as pa
import pytest
from sqlglot import exp

from discreet.engines import ENGINES, connect, dialect
from discreet.engines.dialect import fingerprint, is_finite, sql_type, wide_integer
from discreet.errors import EngineError, InternalError
from discreet.values.columns import ARROW, WIDE

SOURCE = Path(dialect.__file__).parent.parent


@pytest.fixture(params=ENGINES)
def engine(request):
    made = connect(request.param)
    yield made
    made.close()


def computed(engine, *expressions):
    return engine.run(exp.select(*expressions)).to_pylist()


@pytest.mark.parametrize("name", [*ENGINES, "postgres"])
def test_every_engine_has_the_same_files_and_knows_every_word(name):
    folder = SOURCE / "engines" / name
    assert {path.name for path in folder.glob("*.py")} >= {
        "__init__.py",
        "engine.py",
        "dialect.py",
        "files.py",
        "errors.py",
    }
    assert set(import_module(f"discreet.engines.{name}.dialect").FUNCTIONS) == set(dialect.FUNCTIONS)


@pytest.mark.parametrize("name", dialect.FUNCTIONS)
def test_every_word_is_explained(name):
    assert f"    {name}(" in dialect.__doc__


def test_fingerprints_are_equal_where_values_are(engine):
    rows = pa.table({"a": ["x", "x", None, None, "y", ""], "b": [1, 1, 2, 2, 1, 2]})
    engine.load("t", rows)
    columns = exp.column("a"), exp.column("b")
    found = engine.run(exp.select(exp.alias_(exp.cast(fingerprint(*columns), wide_integer()), "f")).from_("t"))[
        "f"
    ].to_pylist()
    assert found[0] == found[1] != found[4]
    assert found[2] == found[3] != found[5]
    assert None not in found


def test_sums_of_fingerprints_fit(engine):
    engine.load("t", pa.table({"a": list(range(1000))}))
    total = exp.Sum(this=exp.cast(fingerprint(exp.column("a")), wide_integer()))
    assert engine.run(exp.select(total).from_("t")).column(0)[0].as_py() > 2**64


def test_only_numbers_are_finite(engine):
    engine.load("t", pa.table({"x": [1.5, float("inf"), float("-inf"), float("nan")]}))
    found = engine.run(exp.select(is_finite(exp.column("x"))).from_("t")).column(0)
    assert found.to_pylist() == [True, False, False, False]


TYPED = {
    **dict.fromkeys(
        [pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()], 7
    ),
    **dict.fromkeys([pa.float32(), pa.float64()], 1.5),
    pa.string(): "x",
    pa.bool_(): True,
    pa.date32(): dt.date(2020, 2, 3),
    pa.time64("us"): dt.time(1, 2, 3),
    pa.decimal128(5, 2): Decimal("1.25"),
    WIDE: Decimal(10**37),
    **dict.fromkeys(map(pa.timestamp, ("s", "ms", "us", "ns")), dt.datetime(2020, 2, 3, 4)),  # noqa: DTZ001
}


@pytest.mark.parametrize("type_", TYPED, ids=str)
def test_a_type_of_arrow_is_the_same_in_the_engine(engine, type_):
    engine.load("t", pa.table({"x": pa.array([TYPED[type_], None], type_)}))
    assert engine.schema("t").field("x").type == type_
    engine.load("u", exp.select(exp.alias_(exp.cast(exp.null(), sql_type(type_)), "x")))
    assert engine.schema("u").field("x").type == type_


def test_a_moment_with_a_zone_keeps_it(engine):
    engine.load("u", exp.select(exp.alias_(exp.cast(exp.null(), sql_type(pa.timestamp("us", "UTC"))), "x")))
    assert engine.schema("u").field("x").type.tz is not None


def test_keys_that_may_be_missing_can_be_hashed_in_postgres():
    """Of IS NOT DISTINCT FROM the server tries each row with each."""
    key = exp.NullSafeEQ(this=exp.column("key_0", table="a"), expression=exp.column("key_0", table="b"))
    other = exp.NullSafeEQ(this=exp.column("x", table="a"), expression=exp.column("y", table="a"))
    dialect = import_module("discreet.engines.postgres.dialect").Dialect
    assert key.sql(dialect=dialect) == "ARRAY[a.key_0] = ARRAY[b.key_0]"
    assert other.sql(dialect=dialect) == "a.x IS NOT DISTINCT FROM a.y"


def test_every_word_of_a_data_package_has_a_type(engine):
    for type_ in ARROW.values():
        assert computed(engine, exp.alias_(exp.cast(exp.null(), sql_type(type_)), "x")) == [{"x": None}]


def test_what_sql_has_no_type_for_is_our_mistake():
    with pytest.raises(InternalError, match="binary"):
        sql_type(pa.binary())


OWN = re.compile(
    r"\b(HUGEINT|U?TINYINT|USMALLINT|UINTEGER|UBIGINT|TIMESTAMP_(S|MS|NS)|TIMESTAMPTZ|TIMETZ)", re.IGNORECASE
)
NAMES = {"BIGINT", "DOUBLE", "FLOAT", "VARCHAR", "DATE", "TIME", "TIMESTAMP", "DECIMAL", "BOOLEAN", "INTEGER", "BLOB"}


def texts(path):
    """Every text in a module that is no docstring, and whether it is what something is cast to."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    prose = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    casts = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") in {"cast", "build", "to_table"}
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in prose:
            yield node.value, id(node) in casts


def test_duckdbs_names_of_types_stand_in_its_own_folder():
    """BIGINT and the like are SQL's own inside of a query; compared with, they are names that DuckDB gives."""
    found = [
        (str(path.relative_to(SOURCE)), text)
        for path in SOURCE.rglob("*.py")
        if not {"duckdb", "postgres", "spark"} & {*path.parts}
        for text, cast in texts(path)
        if OWN.search(text) or (text in NAMES and not cast)
    ]
    assert found == []


def test_a_compiled_sqlglot_is_told(monkeypatch):
    """Whoever has `sqlglot[c]` for something else gets a reason, where Python has only "cannot inherit from compiled"."""
    monkeypatch.setattr("sqlglot.generator.__file__", "generator.cpython-311-x86_64-linux-gnu.so")
    with pytest.raises(EngineError, match="compiled form") as caught:
        connect()
    assert "pip uninstall sqlglotc" in caught.value.hint
