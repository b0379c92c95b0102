"""Random tables in groups, and random questions about them."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st

from discreet import Policy, read
from discreet.publication.publish import publish_groups
from discreet.release import Release
from laws.worlds import Measure, Question, arrangements

WORLDS = 1500  # at most, so that all of them can be enumerated
FRACTIONS = ("0", "0.1", "0.25", "0.3", "0.5", "0.625", "0.75", "0.9", "1")


@dataclass(frozen=True)
class Kind:
    """A kind of column: values it may hold, and expressions over a column `{c}` and constants `{v}` and `{w}`."""

    type: pa.DataType
    values: tuple[Any, ...]
    conditions: tuple[str, ...]
    numbers: tuple[str, ...]
    keys: tuple[str, ...] = ()


ANY = (
    *("{c} = {v}", "{c} <> {v}", "{c} < {v}", "{c} >= {v}", "{c} BETWEEN {v} AND {w}", "{c} NOT BETWEEN {v} AND {w}"),
    *("{c} IN ({v}, {w})", "{c} NOT IN ({v}, {w})", "{c} IS NULL", "{c} IS NOT NULL", "{c} IS DISTINCT FROM {v}"),
    "COALESCE({c}, {v}) = {v}",
)
NUMBER = (
    *(
        "{c} * 2 + 1 <= {v}",
        "ABS({c}) >= {v}",
        "-{c} < {v}",
        "{c} / 2 > 0.5",
        "CASE WHEN {c} > {v} THEN FALSE ELSE TRUE END",
    ),
    *("{c} - {v} > {c} / 2", "NOT {c} > {v}", "NULLIF({c}, {v}) IS NULL"),
)
KINDS = {
    "integer": Kind(
        pa.int64(),
        (-7, -2, 0, 1, 2, 3, 10),
        (*ANY, *NUMBER, "{c} % 2 = 0", "{c} // 2 = {v}", "CAST({c} AS VARCHAR) LIKE '%1%'"),
        ("{c}", "{c} + 1", "{c} * {c}", "-{c}", "ABS({c})", "CASE WHEN {c} > {v} THEN {c} END", "COALESCE({c}, 4)"),
        ("{c} % 2", "{c} > {v}", "{c} // 3"),
    ),
    "float": Kind(
        pa.float64(),
        (-1e3, -0.5, 0.0, 0.1, 0.25, 0.3, 12.75),
        (*ANY, *NUMBER, "ROUND({c}) = 0", "FLOOR({c}) < {v}"),
        ("{c}", "{c} / 3", "-{c}", "{c} * {c} - 1"),
        ("ROUND({c})", "{c} > {v}"),
    ),
    "decimal": Kind(
        pa.decimal128(9, 2),
        tuple(map(Decimal, ("-12.50", "-0.01", "0.00", "0.01", "3.10", "99.99"))),
        (*ANY, *NUMBER),
        ("{c}", "-{c}", "{c} + 1", "CAST({c} AS DOUBLE)"),
        ("{c} > {v}",),
    ),
    "large": Kind(
        pa.int64(),
        (-(2**53) - 1, -(2**53), 5, 2**53, 2**53 + 1, 2**60 + 1),
        ANY,
        ("{c}",),
        ("{c} > {v}",),
    ),
    "string": Kind(
        pa.string(),
        ("", "a", "ab", "aB", "b%", "é", "O'Neil", "Zoë"),
        (
            *ANY,
            *("{c} LIKE 'a%'", "{c} LIKE '_'", "{c} NOT LIKE '%b%'", "{c} ILIKE 'AB'", "LENGTH({c}) > 1"),
            *("UPPER({c}) = 'AB'", "{c} || 'b' = 'ab'", "SUBSTRING({c}, 1, 1) = 'a'", "STARTS_WITH({c}, 'a')"),
            *("LEFT({c}, 1) >= 'b'", "REPLACE({c}, 'b', '') = 'a'", "CONTAINS({c}, 'b')", "REVERSE({c}) > {v}"),
        ),
        ("LENGTH({c})",),
        ("LOWER({c})", "LEFT({c}, 1)", "{c} LIKE 'a%'"),
    ),
    "boolean": Kind(
        pa.bool_(),
        (False, True),
        (
            "{c}",
            "NOT {c}",
            "{c} = {v}",
            "{c} IS NULL",
            "{c} IS NOT NULL",
            "COALESCE({c}, {v})",
            "{c} IS DISTINCT FROM {v}",
        ),
        ("CAST({c} AS INTEGER)", "CASE WHEN {c} THEN 3 ELSE -1 END"),
        ("NOT {c}",),
    ),
    "date": Kind(
        pa.date32(),
        (date(1969, 7, 20), date(2020, 2, 28), date(2020, 2, 29), date(2020, 12, 31), date(2024, 1, 1)),
        (*ANY, "YEAR({c}) = 2020", "EXTRACT(month FROM {c}) > 2", "DATE_TRUNC('month', {c}) = DATE '2020-02-01'"),
        ("YEAR({c})", "DATE_DIFF('day', DATE '2020-01-01', {c})"),
        ("YEAR({c})", "DATE_TRUNC('month', {c})"),
    ),
    "timestamp": Kind(
        pa.timestamp("us"),
        (datetime(2020, 2, 29, 23, 59, 59, 5), datetime(2020, 3, 1), datetime(2021, 3, 1, 12)),  # noqa: DTZ001
        (*ANY, "YEAR({c}) = 2020"),
        ("MONTH({c})",),
        ("CAST({c} AS DATE)",),
    ),
}
NAMES = ("age", "Zip code", "value", "n", "group", "grp", "key_0", "picks", "select", 'a"b', "urn; --")


@dataclass(frozen=True)
class Column:
    """A column of a random table; questions compare it with `constants`."""

    name: str
    kind: str
    constants: tuple[Any, ...] = ()

    def fill(self, draw: st.DrawFn, template: str) -> str:
        """An expression over this column, with constants of its kind."""
        quoted = '"' + self.name.replace('"', '""') + '"'
        v, w = (_literal(draw(st.sampled_from(self.constants or KINDS[self.kind].values))) for _ in range(2))
        return template.format(c=quoted, v=v, w=w)


@dataclass(frozen=True)
class Case:
    """A private table, and the group of each of its rows."""

    quasi: tuple[Column, ...]
    sensitive: Column
    table: pa.Table
    groups: tuple[int, ...]

    @property
    def policy(self) -> Policy:
        return Policy(
            quasi=tuple(column.name for column in self.quasi),
            sensitive=self.sensitive.name,
            guarantee={"k": 2},
            partition="deal",
            missing_sensitive="value",
        )

    @contextmanager
    def released(self) -> Iterator[Release]:
        """The release of the table in these groups."""
        private = read(self.table)
        with tempfile.TemporaryDirectory() as folder:
            codes = private.codes(self.sensitive.name)
            groups = np.array(self.groups, np.int32)
            release = publish_groups(private, self.policy, codes, groups, to=Path(folder) / "release")
            private.close()
            yield release
            release.desk.close()


@st.composite
def cases(draw: st.DrawFn, of_sensitive: Sequence[str], *, alike: bool = False) -> Case:
    """A tiny table in one to three groups of two to five rows; `alike`: in more groups with the same sensitive values."""
    names = draw(st.permutations(NAMES))
    kinds = draw(
        st.lists(st.sampled_from(["integer", "string", "boolean", "date", "float", "decimal"]), min_size=2, max_size=3)
    )
    kind = draw(st.sampled_from(of_sensitive))
    values = _cells(kind, missing=draw(st.booleans()))
    if alike:
        shared = draw(st.lists(values, min_size=2, max_size=3))
        groups = [shared] * draw(st.integers(2, 6))
    else:
        groups = draw(st.lists(st.lists(values, min_size=2, max_size=5), min_size=1, max_size=3))
    if all(value is None for group in groups for value in group):
        groups = [[*groups[0][1:], KINDS[kind].values[0]], *groups[1:]]
    while prod(map(arrangements, groups)) > WORLDS:
        groups = groups[:-1]
    rows = draw(st.permutations([(number, value) for number, group in enumerate(groups) for value in group]))
    columns = {}
    for name, of_kind in zip(names, kinds, strict=False):
        cells = _cells(of_kind, missing=draw(st.booleans()))
        listed = draw(st.lists(cells, min_size=len(rows), max_size=len(rows)))
        columns[_column(name, of_kind, listed)] = pa.array(listed, KINDS[of_kind].type)
    held = [value for _, value in rows]
    columns[_column(names[3], kind, held)] = pa.array(held, KINDS[kind].type)
    table = pa.table({column.name: array for column, array in columns.items()})
    *quasi, sensitive = columns
    return Case(tuple(quasi), sensitive, table, tuple(number for number, _ in rows))


@st.composite
def questions(draw: st.DrawFn, quasi: Sequence[Column], sensitive: Column, *, keys: bool = False) -> Question:
    """A question with up to three aggregates about either side, with conditions on both, and with keys if wanted."""
    columns = [*quasi, sensitive]
    grouped: list[str] = []
    if keys:
        by = draw(st.lists(st.sampled_from(columns), min_size=1, max_size=2, unique=True))
        grouped = [column.fill(draw, draw(st.sampled_from(["{c}", *KINDS[column.kind].keys]))) for column in by]
    measures = draw(st.lists(_measures(quasi, sensitive), min_size=1, max_size=3))
    return Question(tuple(grouped), tuple(measures), draw(_wheres(quasi, sensitive)))


def _column(name: str, kind: str, values: Sequence[Any]) -> Column:
    return Column(name, kind, tuple(dict.fromkeys(value for value in values if value is not None)))


def _cells(kind: str, *, missing: bool) -> st.SearchStrategy[Any]:
    values = st.sampled_from(KINDS[kind].values)
    return st.one_of(values, values, st.none()) if missing else values


@st.composite
def _measures(draw: st.DrawFn, quasi: Sequence[Column], sensitive: Column) -> Measure:
    function = draw(st.sampled_from(["count", "sum", "avg", "min", "max", "disc", "cont"]))
    if function == "count" and draw(st.booleans()):
        return Measure("COUNT(*)", "count")
    column = draw(st.sampled_from([*[sensitive] * 4, *quasi]))
    kind = KINDS[column.kind]
    numeric = function in {"sum", "avg", "cont"}
    template = draw(st.sampled_from(kind.numbers if numeric else ("{c}", *kind.numbers, *kind.keys)))
    argument = column.fill(draw, template)
    if function not in {"disc", "cont"}:
        return Measure(f"{function.upper()}({argument})", function, argument)
    p = draw(st.sampled_from(FRACTIONS))
    texts = [f"QUANTILE_{function.upper()}({argument}, {p})"]
    texts.append(f"PERCENTILE_{function.upper()}({p}) WITHIN GROUP (ORDER BY {argument})")
    texts += [f"QUANTILE({argument}, {p})"] if function == "disc" else []
    texts += [f"MEDIAN({argument})"] if function == "cont" and p == "0.5" else []
    return Measure(draw(st.sampled_from(texts)), function, argument, Fraction(p))


@st.composite
def _wheres(draw: st.DrawFn, quasi: Sequence[Column], sensitive: Column) -> str | None:
    parts = [draw(_conditions(columns)) for columns in (quasi, [sensitive]) if draw(st.integers(0, 3))]
    if not parts:
        return None
    if draw(st.booleans()):
        parts.reverse()
    return draw(st.sampled_from([_all_of(parts), _none_of(parts), f"NOT (NOT ({_all_of(parts)}))"]))


def _all_of(parts: Sequence[str]) -> str:
    return " AND ".join(f"({part})" for part in parts)


def _none_of(parts: Sequence[str]) -> str:
    return f"NOT ({' OR '.join(f'NOT ({part})' for part in parts)})"


@st.composite
def _conditions(draw: st.DrawFn, columns: Sequence[Column]) -> str:
    """A condition over columns of one side."""
    parts = [draw(_atoms(columns)) for _ in range(draw(st.integers(1, 3)))]
    while len(parts) > 1:
        left, right = parts.pop(), parts.pop()
        parts.append(
            draw(st.sampled_from([f"({left} AND {right})", f"({left} OR {right})", f"NOT ({left} OR {right})"]))
        )
    return parts[0]


@st.composite
def _atoms(draw: st.DrawFn, columns: Sequence[Column]) -> str:
    column = draw(st.sampled_from(columns))
    if draw(st.integers(0, 4)):
        return column.fill(draw, draw(st.sampled_from(KINDS[column.kind].conditions)))
    pair = [draw(st.sampled_from(columns)) for _ in range(2)]
    left, right = (one.fill(draw, draw(st.sampled_from(KINDS[one.kind].numbers))) for one in pair)
    comparison = draw(st.sampled_from(["{} + {} > 2", "{} <= {}", "{} = {}", "{} - {} < 0"]))
    return draw(st.sampled_from([comparison.format(left, right)] * 5 + ["TRUE", "1 = 0", "NULL"]))


def _literal(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, int | float | Decimal):
        return f"({value})" if value < 0 else str(value)
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    return f"TIMESTAMP '{value}'" if isinstance(value, datetime) else f"DATE '{value}'"
