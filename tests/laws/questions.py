"""Random tiny tables in groups, and random questions about them."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from math import prod
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa

from discreet import Policy, read
from discreet.publication.publish import publish_groups
from discreet.release import Release
from laws.worlds import Function, Measure, Question, arrangements

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
        ("{c} % 2", "{c} > {v}", "{c} // 3", "{c} BETWEEN {v} AND {w}", "{c} IN ({v}, {w})", "{c} IS NULL"),
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
        ("LOWER({c})", "LEFT({c}, 1)", "{c} LIKE 'a%'", "NOT {c} IN ({v}, {w})", "{c} || {v}"),
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
        ("NOT {c}", "{c} OR {v}", "{c} IS NOT NULL"),
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
QUASI = ("integer", "integer", "string", "string", "boolean", "date", "float", "decimal", "timestamp")
NAMES = ("age", "Zip code", "value", "n", "group", "grp", "key_0", "picks", "select", 'a"b', "urn; --", "row")
MEASURABLE = ("integer", "float", "decimal", "large", "date", "timestamp")  # what `permutation` publishes


@dataclass(frozen=True)
class Column:
    """A column of a random table; questions compare it with `constants`."""

    name: str
    kind: str
    constants: tuple[Any, ...]

    @classmethod
    def of(cls, name: str, kind: str, values: Sequence[Any]) -> Column:
        """A column that holds these values."""
        return cls(name, kind, tuple(dict.fromkeys(v for v in values if v is not None)) or KINDS[kind].values)

    @property
    def quoted(self) -> str:
        return '"' + self.name.replace('"', '""') + '"'

    def fill(self, rng: Random, template: str) -> str:
        """An expression over this column, with constants of its kind."""
        v, w = (_literal(rng.choice(self.constants)) for _ in range(2))
        return template.format(c=self.quoted, v=v, w=w)

    def number(self, rng: Random) -> str:
        """An expression that can be summed."""
        return self.fill(rng, rng.choice(KINDS[self.kind].numbers))

    def value(self, rng: Random) -> str:
        """An expression to group by or to compare, of any kind."""
        return self.fill(rng, rng.choice(["{c}", *KINDS[self.kind].keys]))


@dataclass(frozen=True)
class Case:
    """A private table, and the group of each of its rows."""

    quasi: tuple[Column, ...]
    sensitive: Column
    table: pa.Table
    groups: tuple[int, ...]
    publication: str = "anatomy"
    together: tuple[tuple[str, ...], ...] | None = None

    @contextmanager
    def released(self) -> Iterator[Release]:
        """The release of the table in these groups."""
        policy = Policy(
            quasi=tuple(column.name for column in self.quasi),
            sensitive=self.sensitive.name,
            guarantee={"k": 2},
            partition="deal",
            publication=self.publication,
            together=self.together,
            missing_sensitive="value",
        )
        with tempfile.TemporaryDirectory() as folder:
            with closing(read(self.table)) as private:
                codes = private.codes(policy.sensitive)
                groups = np.array(self.groups, np.int32)
                release = publish_groups(private, policy, codes, groups, to=Path(folder) / "release")
            with closing(release.session):
                yield release

    def __str__(self) -> str:
        blocks = f" with {self.together} together" if self.together else ""
        return f"{self.publication} of {self.table.to_pydict()} in the groups {self.groups}{blocks}"


def random_case(rng: Random, kinds: Sequence[str], *, alike: bool = False, gaps: bool = True) -> Case:
    """A tiny table whose worlds can be enumerated, with a sensitive column of one of `kinds`.

    It has one to three groups of two to five rows; if `alike`, more groups, with the same sensitive values.
    Sensitive values may be missing unless there are to be no `gaps`. It is published one way or the other.
    """
    kind = rng.choice(kinds)
    if alike:
        groups = [_cells(rng, kind, rng.randint(2, 3), gaps=gaps)] * rng.randint(2, 6)
    else:
        groups = [_cells(rng, kind, rng.choice([2, 3, 3, 4, 5]), gaps=gaps) for _ in range(rng.randint(1, 3))]
    if all(value is None for group in groups for value in group):
        groups[0] = [*groups[0][1:], KINDS[kind].values[0]]
    while prod(map(arrangements, groups)) > WORLDS:
        groups.pop()
    rows = [(number, value) for number, group in enumerate(groups) for value in group]
    rng.shuffle(rows)
    names = rng.sample(NAMES, 4)
    kinds_of_quasi = rng.choices(QUASI, k=rng.randint(2, 3))
    columns = {(name, of): _cells(rng, of, len(rows)) for name, of in zip(names, kinds_of_quasi, strict=False)}
    columns[names[3], kind] = [value for _, value in rows]
    return _published(rng, _case(columns, [number for number, _ in rows]))


def random_crowd(rng: Random, size: int, *, missing: bool) -> Case:
    """A table of `size` rows, all in one group; no sensitive value is held by more than a fourth of them."""
    kind = rng.choice(["integer", "float", "decimal", "large", "string", "date"])
    values: list[Any] = list(KINDS[kind].values)
    if kind in {"integer", "float"} and rng.random() < 0.5:
        values = [rng.randint(-50, 500) if kind == "integer" else rng.randint(-50, 500) / 8 for _ in range(size)]
    values += [None] if missing else []
    weights = [1 / (place + 1) for place in range(len(values))]
    rng.shuffle(values)
    held: list[Any] = []
    while len(held) < size:
        [value] = rng.choices(values, weights)
        if held.count(value) < size // 4:
            held.append(value)
    kinds = rng.choices(QUASI, k=3)
    columns = {(name, of): _cells(rng, of, size) for name, of in zip(NAMES, kinds, strict=False)}
    return _published(rng, _case({**columns, ("held", kind): held}, [0] * size))


def random_question(rng: Random, quasi: Sequence[Column], sensitive: Column, *, keys: bool = False) -> Question:
    """A question with up to three aggregates about either side, with conditions on both, and with keys if wanted."""
    by = rng.sample([*quasi, sensitive], rng.randint(1, 2)) if keys else []
    measures = [_measure(rng, quasi, sensitive) for _ in range(rng.choice([1, 1, 2, 3]))]
    return Question(tuple(column.value(rng) for column in by), tuple(measures), _where(rng, quasi, sensitive))


def random_lookup(rng: Random, quasi: Sequence[Column], sensitive: Column) -> Question:
    """A question of the kind that the help table is for: about sensitive values as they are, by quasi-identifiers.

    One in four has a condition on the sensitive values too, which the help table cannot serve.
    """
    functions: list[Function] = ["min", "max", "count"]
    functions += [] if sensitive.kind in {"date", "timestamp"} else ["sum", "avg"]
    chosen = rng.sample(functions, rng.randint(2, len(functions)))
    measures = tuple(Measure(f"{name.upper()}({sensitive.quoted})", name, sensitive.quoted) for name in chosen)
    parts = [_condition(rng, quasi)] if rng.random() < 0.8 else []
    parts += [_condition(rng, [sensitive])] if rng.random() < 0.25 else []
    keys = tuple(column.value(rng) for column in rng.sample(quasi, rng.choice([0, 0, 1, 2])))
    return Question(keys, measures, " AND ".join(f"({part})" for part in parts) or None)


def random_doubt(rng: Random) -> Case:
    """A case in which it is unknown how many of the rows that `hit` hold less than 99: in the last group some do not."""
    values = rng.choices(range(-9, 40), k=rng.randint(3, 6))
    groups = [rng.choices(values, k=size) for size in rng.choice([[6], [2, 6], [2, 6], [3, 6], [2, 2, 6]])]
    high = rng.randint(1, 4)
    groups[-1][:high] = [99] * high
    held = [value for group in groups for value in group]
    hits = [rng.random() < 0.6 for _ in held]
    numbers = [number for number, group in enumerate(groups) for _ in group]
    return _case({("hit", "boolean"): hits, ("held", "integer"): held}, numbers)


def side_by_side(cases: Sequence[Case]) -> Case:
    """Cases with the same columns as one; the column `which` tells them apart."""
    whiches = [number for number, case in enumerate(cases) for _ in case.groups]
    groups = {
        pair: i for i, pair in enumerate((n, group) for n, case in enumerate(cases) for group in set(case.groups))
    }
    table = pa.concat_tables(case.table for case in cases).add_column(0, "which", pa.array(whiches))
    which = Column.of("which", "integer", whiches)
    numbers = [groups[n, group] for n, case in enumerate(cases) for group in case.groups]
    return Case((which, *cases[0].quasi), cases[0].sensitive, table, tuple(numbers), cases[0].publication)


def random_quantile(rng: Random, function: Function, argument: str) -> Measure:
    """A quantile of some fraction, in one of the ways to write it."""
    p = rng.choice(FRACTIONS)
    texts = [f"QUANTILE_{function.upper()}({argument}, {p})"]
    texts.append(f"PERCENTILE_{function.upper()}({p}) WITHIN GROUP (ORDER BY {argument})")
    texts += [f"QUANTILE({argument}, {p})"] if function == "disc" else []
    texts += [f"MEDIAN({argument})"] if function == "cont" and p == "0.5" else []
    return Measure(rng.choice(texts), function, argument, Fraction(p))


def _case(columns: dict[tuple[str, str], list[Any]], groups: Sequence[int]) -> Case:
    """A table from the cells of its columns, given by name and kind; the last is the sensitive one."""
    table = pa.table({name: pa.array(values, KINDS[kind].type) for (name, kind), values in columns.items()})
    *quasi, sensitive = (Column.of(name, kind, values) for (name, kind), values in columns.items())
    return Case(tuple(quasi), sensitive, table, tuple(groups))


def _published(rng: Random, case: Case) -> Case:
    """The same, published in one of the ways that its sensitive column allows."""
    ways = ["anatomy", "permutation"] if case.sensitive.kind in MEASURABLE else ["anatomy"]
    return replace(case, publication=rng.choice(ways))


def _cells(rng: Random, kind: str, size: int, *, gaps: bool = True) -> list[Any]:
    values: list[Any] = rng.choices(KINDS[kind].values, k=size)
    if gaps and rng.random() < 0.4:
        values = [None if rng.random() < 0.3 else value for value in values]
    return values


def _measure(rng: Random, quasi: Sequence[Column], sensitive: Column) -> Measure:
    function: Function = rng.choice(["count", "sum", "avg", "min", "max", "disc", "cont"])
    if function == "count" and rng.random() < 0.5:
        return Measure("COUNT(*)", "count")
    column = sensitive if rng.random() < 0.6 else rng.choice(quasi)
    numeric = function in {"sum", "avg", "cont"} or rng.random() < 0.5
    argument = column.number(rng) if numeric else column.value(rng)
    if function not in {"disc", "cont"}:
        return Measure(f"{function.upper()}({argument})", function, argument)
    return random_quantile(rng, function, argument)


def _where(rng: Random, quasi: Sequence[Column], sensitive: Column) -> str | None:
    parts = [_condition(rng, quasi)] if rng.random() < 0.8 else []
    parts += [_condition(rng, [sensitive])] if rng.random() < 0.5 else []
    rng.shuffle(parts)
    if not parts:
        return None
    all_of = " AND ".join(f"({part})" for part in parts)
    none_of = " OR ".join(f"NOT ({part})" for part in parts)
    return rng.choice([all_of, all_of, f"NOT ({none_of})", f"NOT (NOT ({all_of}))"])


def _condition(rng: Random, columns: Sequence[Column]) -> str:
    """A condition over columns of one side."""
    condition = _comparison(rng, columns)
    for _ in range(rng.choice([0, 0, 1, 2])):
        other = _comparison(rng, columns)
        condition = rng.choice(["({} AND {})", *["({} OR {})"] * 3, "NOT ({} OR {})"]).format(condition, other)
    return condition


def _comparison(rng: Random, columns: Sequence[Column]) -> str:
    if rng.random() < 0.03:
        return rng.choice(["TRUE", "1 = 0", "NULL"])
    if rng.random() < 0.15:
        left, right = (rng.choice(columns).number(rng) for _ in range(2))
        return rng.choice(["{} + {} > 2", "{} <= {}", "{} = {}", "{} - {} < 0"]).format(left, right)
    column = rng.choice(columns)
    return column.fill(rng, rng.choice(KINDS[column.kind].conditions))


def _literal(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, int | float | Decimal):
        return f"({value})" if value < 0 else str(value)
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    return f"TIMESTAMP '{value}'" if isinstance(value, datetime) else f"DATE '{value}'"
