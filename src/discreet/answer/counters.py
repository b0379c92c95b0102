"""Where hits are counted: by ranks, in slots or, if neither serves, row by row; tables are made when first needed.

Ranks serve a condition on one column of few values, slots any condition on groups of few rows.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import pyarrow as pa
from sqlglot import exp

from discreet.answer.help_table import HelpTable
from discreet.answer.hits import Hits, Own
from discreet.answer.question import Question
from discreet.answer.ranks import Ranks
from discreet.answer.slots import MOST_PLACES, Slots
from discreet.engines import Engine

MOST_TABLES = 8
ALIKE = 8  # groups that have the same values, on average, from which they are better counted by signature
WHOLE = {"SMALLINT": 16, "INTEGER": 32}  # types for whole numbers, and their bits

Run = Callable[[exp.Select], pa.Table]
Made = dict[str, exp.Expr]


class Counters:
    """The tables of one release in which hits are counted; `run` answers a small query of a question."""

    def __init__(self, engine: Engine, group: str, help_table: Callable[[], HelpTable | None], run: Run) -> None:
        self._engine, self._group, self._help, self._run = engine, group, help_table, run
        self._ranks: dict[str, tuple[str, Ranks | None]] = {}
        self._slots: dict[tuple[str, ...], tuple[str, Slots]] = {}
        self._made: dict[str, Made] = {}

    def hits(self, question: Question) -> Hits | None:
        """Where the hits of a question are counted; None when counting them row by row is better."""
        condition = question.where["quasi"]
        if condition is None or any(key.side == "quasi" for key in question.keys):
            return None
        columns = tuple(sorted({column.name for column in condition.find_all(exp.Column)}))
        found = self._ranked(columns[0], condition) if len(columns) == 1 else None
        found = found or self._slotted(columns, condition)
        if found is None:
            return None
        table, picks = found
        values = question.where["sensitive"]
        holders = self._holders(values) if values is not None and self._own is not None else None
        return Hits(table, picks, self._own, holders, self._made[table])

    def _ranked(self, column: str, condition: exp.Expr) -> tuple[str, exp.Expr] | None:
        """The table with the ranks of a column, and the hits of a condition on it alone."""
        value = exp.column(column, table="qit", quoted=True)
        if column not in self._ranks:
            number = len(self._ranks)
            ranks = Ranks(f"r{number}", self._count_values(value, "qit"), self._sizes[1])
            fits = ranks.fits(self._groups) and len(self._made) < MOST_TABLES
            self._ranks[column] = (f"ranks_{number}", ranks if fits else None)
        table, ranks_ = self._ranks[column]
        if ranks_ is None:
            return None
        if table not in self._made:
            numbers: Made = {ranks_.dictionary: ranks_.numbers(value, "qit")}
            groups = ranks_.of_groups(exp.column(self._group, table="qit", quoted=True), value.copy(), "qit")
            self._make(table, numbers, groups, [exp.column(word) for word in ranks_.words])
        picks = self._by_rank(ranks_, condition)
        return None if picks is None else (table, picks)

    def _by_rank(self, ranks: Ranks, condition: exp.Expr) -> exp.Expr | None:
        def value(node: exp.Expr) -> exp.Expr:
            return exp.column("value") if isinstance(node, exp.Column) else node

        holds = exp.alias_(exp.func("COALESCE", exp.paren(condition.transform(value)), exp.false()), "holds")
        found = self._run(exp.select(holds).from_(ranks.dictionary).order_by("number"))
        return ranks.hits(found.column(0).to_pylist())

    def _slotted(self, columns: tuple[str, ...], condition: exp.Expr) -> tuple[str, exp.Expr] | None:
        """The table with the rows of groups side by side, and the hits of a condition."""
        if columns not in self._slots:
            slots = Slots(columns, *self._sizes)
            if not (columns and slots.serves(condition) and len(self._made) < MOST_TABLES):
                return None
            self._slots[columns] = (f"slots_{len(self._slots)}", slots)
            self._make(self._slots[columns][0], {}, slots.of_groups(self._group), slots.places())
        table, slots = self._slots[columns]
        return (table, slots.hits(condition)) if slots.serves(condition) else None

    def _holders(self, condition: exp.Expr) -> exp.Expr | None:
        """How many of a group's own values satisfy a condition."""
        found = None if self._own is None or self._own.ranks is None else self._by_rank(self._own.ranks, condition)
        slots = Slots((), *self._sizes)
        if self._own is None or self._own.ranks is not None or not slots.serves(condition):
            return found
        return slots.holders(condition)

    def _make(self, table: str, before: Made, groups: exp.Select, columns: list[exp.Expr]) -> None:
        """Make a table with a row per group: how large it is, some columns, and what is its own."""
        size = exp.cast(
            exp.column("size"), "UTINYINT" if self._sizes[1] <= MOST_PLACES else "INTEGER", dialect="duckdb"
        )
        query = exp.select("signatures.signature", exp.alias_(size, "size"), *columns)
        query = query.from_(groups.subquery("together")).join("signatures", on="together.grp = signatures.grp")
        made = {**before}
        if self._own is not None:
            query = self._own.joined(query)
            if (values := self._own.ranks) is not None:
                made[values.dictionary] = values.numbers(exp.column("value"), "held")
        made[table] = query.order_by("size")  # so that whole vectors of groups lack the last places
        known = {name for tables in self._made.values() for name in tables}
        for name, statement in made.items():
            if name not in known:
                self._engine.load(name, statement)
        self._made[table] = {**({} if self._own is None else self._help_tables()), **made}

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
        ranks = Ranks("h", self._count_values(exp.column("value"), "held"), self._sizes[1])
        kind = None
        if found.kind == "integer":
            furthest = max(abs(self._number(f"{end}(value)", "held")) for end in ("MIN", "MAX"))
            kind = next((kind for kind, bits in WHOLE.items() if furthest < 2 ** (bits - 1)), None)
        return Own(self._sizes[1], kind, ranks if ranks.fits(self._groups) else None)

    @cached_property
    def _groups(self) -> int:
        return int(self._number("COUNT(*)", "signatures"))

    @cached_property
    def _sizes(self) -> tuple[int, int]:
        """The smallest and the largest size of a group."""
        return int(self._number("MIN(size)", "signatures")), int(self._number("MAX(size)", "signatures"))

    def _count_values(self, value: exp.Expr, table: str) -> int:
        distinct = exp.select(value.copy()).distinct().from_(table).subquery("distinct_values")
        return int(self._engine.run(exp.select("COUNT(*)").from_(distinct)).column(0)[0].as_py())

    def _number(self, what: str, table: str) -> float:
        found: float = self._engine.run(exp.select(what).from_(table)).column(0)[0].as_py()
        return found
