"""Questions about quasi-identifiers alone, where a release shows them as they are: any SELECT, run on its rows.

The text is kept to the table and to what was given, and to functions that read nothing but their arguments; the engine
sees a relation of quasi-identifiers only.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import ClassVar

import pyarrow as pa
from sqlglot import exp

from discreet.answer.answer import Answer
from discreet.answer.estimators.learned.select import AnySelect, read_select
from discreet.answer.estimators.learned.tables import as_given
from discreet.answer.given import told_unused
from discreet.answer.left_out import about
from discreet.answer.matches import Matches
from discreet.answer.question.grammar import SCALARS
from discreet.answer.sealed import Sealed
from discreet.answer.ways.way import Asked
from discreet.engines import Engine
from discreet.errors import EngineError, QueryError
from discreet.release.layouts.file import column, named
from discreet.release.manifest import Promise

SHOWN = "quasi-identifiers as shown"
NOTE = "the question is about quasi-identifiers alone, which the release shows as they are: the answer is exact"
OPEN = (
    "the question is about quasi-identifiers alone, which the release shows as they are; but which rows come first,"
    " where no ORDER BY decides it, is arbitrary, and so is the answer"
)
UNSEEN = (exp.AnonymousAggFunc, exp.CombinedAggFunc, exp.CombinedParameterizedAgg, exp.ParameterizedAgg)
OVER = (
    exp.Rank,
    exp.DenseRank,
    exp.RowNumber,
    exp.PercentRank,
    exp.CumeDist,
    exp.Ntile,
    exp.Lag,
    exp.Lead,
    exp.FirstValue,
    exp.LastValue,
    exp.NthValue,
    exp.Exists,
    exp.Unnest,
)
BY_PLACE = (  # what depends on which row comes first, also among those that ORDER BY takes for equal
    *(exp.RowNumber, exp.Ntile, exp.Lag, exp.Lead, exp.FirstValue, exp.LastValue, exp.NthValue),
    *(exp.First, exp.Last, exp.AnyValue, exp.ArrayAgg, exp.GroupConcat, exp.ArgMax, exp.ArgMin),
)


@dataclass(frozen=True)
class Exact:
    """Any SELECT over the quasi-identifiers that are shown as they are."""

    bounded: ClassVar[bool] = False
    sealed: Sealed

    def read(self, asked: Asked) -> ExactSelect | None:
        found = columns_shown(asked.sql, self.sealed.promise, asked.matches, asked.given)
        return None if found is None else ExactSelect(self.sealed, asked, *found)


@dataclass(frozen=True)
class ExactSelect:
    """A SELECT, and the columns that it is about."""

    sealed: Sealed
    asked: Asked
    select: AnySelect
    shown: list[str]

    def answer(self) -> Answer:
        """One that fails is refused as it was by the ways before."""
        sealed, given = self.sealed, self.asked.given
        try:
            sealed.make("qit")
            result = run_exact(sealed.engine, self.select, self.shown, given)
        except EngineError as error:
            raise (self.asked.refused or error) from None
        note = OPEN if _left_open(self.select.query) else NOTE
        told = (*about(sealed.promise, sealed.left_out, None), note, *told_unused(given, self.select.sources))
        return Answer(self.asked.sql, result, self.select.sql, told)

    def check(self) -> None:
        pass

    def explain(self) -> str:
        return f"-- run on the quasi-identifiers as the release shows them\n{self.select.sql};"


def columns_shown(
    sql: str, promise: Promise, matches: Matches, given: Collection[str]
) -> tuple[AnySelect, list[str]] | None:
    """The question, and the columns that it is about, if it is about what is shown alone."""
    try:
        read = read_select(sql, promise, given)
    except QueryError:
        return None
    if not read.sources & {*read.names} or read.query.find(exp.TableSample) is not None:
        return None
    named_ = {each.name.lower() for each in read.query.find_all(exp.Column)}
    shown = [name for name in promise.columns if name != promise.sensitive]
    tables = {each.alias_or_name.lower() for each in read.query.find_all(exp.Table, exp.Subquery, exp.CTE)}
    # the name of a table, in the place of a column, is a whole row
    unseen = tables - {name.lower() for name in shown} | {(promise.sensitive or "").lower()}
    if not matches.exact or named_ & unseen or _stars(read):
        return None
    if matches.blocks is not None:
        used = [name for name in shown if name.lower() in named_]
        shown = next(
            ([*block] for block in matches.blocks if {*used} <= {*block} and promise.sensitive not in block), []
        )
        if not shown:
            return None
    for node in read.query.walk():
        harmless = type(node) in SCALARS or isinstance(node, (exp.AggFunc, *OVER))
        if isinstance(node, exp.Func) and (not harmless or isinstance(node, UNSEEN)):
            if isinstance(node.parent, exp.Table):
                continue  # `read_select` looked at those
            return None
    return read, shown


def _left_open(query: exp.Expr) -> bool:
    """Whether the order of rows, which no ORDER BY decides for all of them, may change the answer."""
    for node in query.find_all(exp.Query):
        order = node.args.get("order")
        sorted_by = [each.this for each in order.expressions] if order else []
        named = {name for each in sorted_by for name in (each.name, each.sql(dialect="duckdb"))}
        known = [{item.alias_or_name, item.unalias().sql(dialect="duckdb")} for item in node.selects]
        decided = "ALL" in named or all(item & named for item in known)
        if not decided and any(node.args.get(clause) for clause in ("limit", "offset")):
            return True
        if node.args.get("distinct") and node.args["distinct"].args.get("on"):
            return True
    placed = [node.this for node in query.find_all(*BY_PLACE)]
    sorted_ = [
        isinstance(each, exp.Order) and any(key.this == each.this for key in each.expressions) for each in placed
    ]
    return not all(sorted_) or any(each.args.get("kind") == "ROWS" for each in query.find_all(exp.WindowSpec))


def _stars(read: AnySelect) -> bool:
    """Whether all columns of the table are asked for, the sensitive one among them, or may be what is asked."""
    stars = [each for each in read.query.find_all(exp.Star) if not isinstance(each.parent, exp.Count)]
    own = [each for each in stars if _of_table(each.find_ancestor(exp.Select), read)]
    if not own:
        return False
    joins = read.query.find_all(exp.Join)
    combined = read.query.find(exp.SetOperation) or any(join.method == "NATURAL" for join in joins)
    return bool(combined) or len(own) < len(stars) or not all(_only_passed_on(star) for star in own)


def _of_table(select: exp.Select | None, read: AnySelect) -> bool:
    sources = [] if select is None else [select.args.get("from_"), *(select.args.get("joins") or ())]
    return any(isinstance(each.this, exp.Table) and each.this.name.lower() in read.names for each in sources if each)


def _only_passed_on(star: exp.Star) -> bool:
    """Whether its rows are those that a SELECT around it takes columns of, each once."""
    select = star.find_ancestor(exp.Select)
    clauses = ("distinct", "group", "order", "limit")
    plain = select is not None and not any(select.args.get(clause) for clause in clauses)
    around = select.parent if select is not None and isinstance(star.parent, exp.Select) else None
    inner = isinstance(around, exp.CTE) or isinstance(getattr(around, "parent", None), exp.From | exp.Join)
    return plain and inner and not any(star.args.values())


def run_exact(engine: Engine, asked: AnySelect, shown: list[str], given: Mapping[str, pa.Table]) -> pa.Table:
    """The rows of the answer; the engine has `qit`."""
    engine.load(SHOWN, exp.select(*map(column, shown)).from_(named("qit")), keep=False)
    try:
        for name, table in given.items():
            engine.load(as_given(name), table, keep=False)
        return engine.run(asked.asked_of(SHOWN))
    finally:
        for name in given:
            engine.forget(as_given(name))
