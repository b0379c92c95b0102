"""Where hits are counted: by ranks, in slots or, if neither serves, row by row; tables are made when first needed.

Ranks serve conditions and keys on columns of few values, slots any condition on groups of few rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from math import prod

import numpy as np
import pyarrow as pa
from sqlglot import exp

from discreet.answer.help_table import HelpTable
from discreet.answer.hits import Hits, Keys, Own
from discreet.answer.question.question import Question
from discreet.answer.ranks import Ranks
from discreet.answer.slots import MOST_PLACES, Slots
from discreet.engines import Engine

MOST_TABLES, MOST_BYTES = 8, 2**31  # of all together
MOST_KEYS = 16  # combinations of keys whose hits are counted one after the other
MOST_COMBINATIONS = 4_096  # of values of several columns, before it is looked at how many occur
ALIKE = 8  # groups that have the same values, on average, from which they are better counted by signature
WHOLE = {"SMALLINT": 16, "INTEGER": 32}  # types for whole numbers, and their bits

Run = Callable[[exp.Select], pa.Table]
Made = dict[str, exp.Expr]


class Counters:
    """The tables of one release in which hits are counted; `run` answers a small query of a question."""

    def __init__(self, engine: Engine, group: str, help_table: Callable[[], HelpTable | None], run: Run) -> None:
        self._engine, self._group, self._help, self._run = engine, group, help_table, run
        self._ranks: dict[tuple[str, ...], tuple[str, Ranks | None]] = {}
        self._slots: dict[tuple[str, ...], tuple[str, Slots]] = {}
        self._made: dict[str, Made] = {}
        self._counts: dict[str, int] = {}
        self._loaded: set[str] = set()
        self._spent = 0

    def hits(self, question: Question) -> Hits | None:
        """Where the hits of a question are counted; None when counting them row by row is better."""
        condition, keys = question.where["quasi"], [key.expression for key in question.keys if key.side == "quasi"]
        if (condition is None and not keys) or (keys and question.asks_of_sensitive):
            return None
        found = self._ranked(condition, keys)
        if found is None and not keys and condition is not None:
            found = self._slotted(condition)
        values = question.where["sensitive"]
        if found is None or values is None or self._own is None:
            return found
        return replace(found, holders=self._holders(values))

    def _ranked(self, condition: exp.Expr | None, keys: Sequence[exp.Expr]) -> Hits | None:
        """The hits of a condition on columns of few values, by keys of such columns."""
        first = sorted(_names(*keys), key=self._values_of)
        then = sorted(set(_names(condition)) - {*first}, key=lambda name: (self._values_of(name), name))
        columns = (*first, *then)  # a range of the last is then a run of numbers
        if not columns or prod(map(self._values_of, columns)) > MOST_COMBINATIONS:
            return None
        values = [exp.column(name, table="qit", quoted=True) for name in columns]
        if columns not in self._ranks:
            number = len(self._ranks)
            ranks = Ranks(f"r{number}", self._count_values(values, "qit"), self._sizes[1])
            fits = ranks.serves and self._has_room(len(ranks.words))
            self._ranks[columns] = (f"ranks_{number}", ranks if fits else None)
        table, ranks_ = self._ranks[columns]
        if ranks_ is None:
            return None
        numbers: Made = {ranks_.dictionary: ranks_.numbers(values, "qit")}
        self._load(numbers)
        condition, *keys = (_on_values(each, columns) for each in (condition or exp.true(), *keys))
        picks = self._by_rank(ranks_, condition, keys)
        if picks is None:
            return None
        if table not in self._made:
            groups = ranks_.of_groups(exp.column(self._group, table="qit", quoted=True), values, "qit")
            self._make(table, numbers, groups, [exp.column(word) for word in ranks_.words])
        named = tuple(exp.alias_(key, f"key_{i}") for i, key in enumerate(keys))
        frame = exp.select(*(key.copy() for key in named)).distinct().from_(ranks_.dictionary).where(condition)
        found = Keys(ranks_.dictionary, named, frame) if keys else None
        return Hits(table, picks, found, self._own, None, self._made[table])

    def _by_rank(self, ranks: Ranks, condition: exp.Expr, keys: Sequence[exp.Expr] = ()) -> dict[int, exp.Expr] | None:
        """The hits of a condition, by the first number of each combination of keys; None if they are long to say."""
        holds = exp.alias_(exp.Case().when(condition.copy(), exp.true()).else_(exp.false()), "holds")
        over = exp.Window(this=exp.Min(this=exp.column("number")), partition_by=[key.copy() for key in keys])
        first = exp.alias_(over if keys else exp.Literal.number(0), "first")
        found = self._run(exp.select(holds, first).from_(ranks.dictionary).order_by("number"))
        true, firsts = np.array(found.column(0).to_pylist(), np.bool_), np.array(found.column(1).to_pylist())
        numbers = np.unique(firsts[true]).tolist() if keys else [0]
        if len(numbers) > MOST_KEYS:
            return None
        hits = {number: ranks.hits((true & (firsts == number)).tolist()) for number in numbers}
        told = {number: expression for number, expression in hits.items() if expression is not None}
        return told if told and len(told) == len(hits) else None

    def _slotted(self, condition: exp.Expr) -> Hits | None:
        """The hits of any condition, where the rows of a group are few enough to stand side by side."""
        columns = tuple(sorted(_names(condition)))
        if columns not in self._slots:
            slots = Slots(columns, *self._sizes)
            if not (columns and slots.serves(condition) and self._has_room(len(columns) * slots.most)):
                return None
            name = f"slots_{len(self._slots)}"
            self._make(name, {}, slots.of_groups(self._group), slots.places())
            self._slots[columns] = (name, slots)
        table, slots = self._slots[columns]
        if not slots.serves(condition):
            return None
        return Hits(table, {0: slots.hits(condition)}, None, self._own, None, self._made[table])

    def _holders(self, condition: exp.Expr) -> exp.Expr | None:
        """How many of a group's own values satisfy a condition."""
        if self._own is None:
            return None
        if self._own.ranks is not None:
            found = self._by_rank(self._own.ranks, _on_values(condition, _names(condition)))
            return None if found is None else found[0]
        slots = Slots((), *self._sizes)
        return slots.holders(condition, self._engine.schema("held")["value"]) if slots.serves(condition) else None

    def _make(self, table: str, before: Made, groups: exp.Select, columns: list[exp.Expr]) -> None:
        """Make a table with a row per group: how large it is, some columns, and what is its own."""
        kind = "UTINYINT" if self._sizes[1] <= MOST_PLACES else "INTEGER"
        size = exp.cast(exp.column("size"), kind, dialect="duckdb")
        query = exp.select("signatures.signature", exp.alias_(size, "size"), *columns)
        query = query.from_(groups.subquery("together")).join("signatures", on="together.grp = signatures.grp")
        made = {**before}
        if self._own is not None:
            query = self._own.joined(query)
            if (values := self._own.ranks) is not None:
                made[values.dictionary] = values.numbers([exp.column("value")], "held")
        made[table] = query.order_by("size")  # so that whole vectors of groups lack the last places
        self._load(made)
        self._spent += self._width(len(columns))
        self._made[table] = {**({} if self._own is None else self._help_tables()), **made}

    def _load(self, tables: Made) -> None:
        """Make those tables that are not there yet."""
        for name, statement in tables.items():
            if name not in self._loaded:
                self._engine.load(name, statement)
                self._loaded.add(name)

    def _has_room(self, columns: int) -> bool:
        """Whether one more table, of so many columns and what is a group's own, is not too much."""
        return len(self._made) < MOST_TABLES and self._spent + self._width(columns) <= MOST_BYTES

    def _width(self, columns: int) -> int:
        own = self._own
        beside = 0 if own is None else own.most + (0 if own.ranks is None else len(own.ranks.words))
        return 8 * self._groups * (columns + beside)

    def _help_tables(self) -> Made:
        found = self._help()
        return {} if found is None else found.tables()

    @cached_property
    def _own(self) -> Own | None:
        """What stands beside each group, if hardly two of them have the same values, and none is missing."""
        kinds = self._number("COUNT(DISTINCT signature)", "signatures")
        if ALIKE * kinds <= self._groups or self._sizes[1] > MOST_PLACES:
            return None
        found = self._help()
        if found is None or found.form != "full":
            return None
        ranks = Ranks("h", self._count_values([exp.column("value")], "held"), self._sizes[1])
        kind = None
        if found.kind == "integer":
            furthest = max(abs(self._number(f"{end}(value)", "held")) for end in ("MIN", "MAX"))
            kind = next((kind for kind, bits in WHOLE.items() if furthest < 2 ** (bits - 1)), None)
        return Own(self._sizes[1], kind, ranks if ranks.serves else None)

    @cached_property
    def _groups(self) -> int:
        return int(self._number("COUNT(*)", "signatures"))

    @cached_property
    def _sizes(self) -> tuple[int, int]:
        """The smallest and the largest size of a group."""
        return int(self._number("MIN(size)", "signatures")), int(self._number("MAX(size)", "signatures"))

    def _values_of(self, name: str) -> int:
        """How many values a quasi-identifier has."""
        return self._count_values([exp.column(name, table="qit", quoted=True)], "qit")

    def _count_values(self, values: Sequence[exp.Expr], table: str) -> int:
        query = exp.select(*(value.copy() for value in values)).distinct().from_(table).subquery("distinct_values")
        sql = query.sql()
        if sql not in self._counts:
            self._counts[sql] = int(self._engine.run(exp.select("COUNT(*)").from_(query)).column(0)[0].as_py())
        return self._counts[sql]

    def _number(self, what: str, table: str) -> float:
        found: float = self._engine.run(exp.select(what).from_(table)).column(0)[0].as_py()
        return found


def _names(*expressions: exp.Expr | None) -> tuple[str, ...]:
    """The columns that expressions speak of, each once, in the order of their names."""
    return tuple(
        sorted({column.name for each in expressions if each is not None for column in each.find_all(exp.Column)})
    )


def _on_values(expression: exp.Expr, columns: Sequence[str]) -> exp.Expr:
    """An expression about columns, told about the values in a dictionary of them."""

    def value(node: exp.Expr) -> exp.Expr:
        return exp.column(f"value_{columns.index(node.name)}") if isinstance(node, exp.Column) else node

    return expression.transform(value)
