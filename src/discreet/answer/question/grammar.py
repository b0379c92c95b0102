"""What a question may contain: an allow-list of SQL, and which side of the release an expression looks at."""

from __future__ import annotations

from typing import TypeAlias

from sqlglot import exp

from discreet.answer.question.refusals import refusal, shown
from discreet.engines.dialect import LookedUp
from discreet.errors import QueryError

# What a release keeps apart from the rest: "sensitive", "quasi", or where blocks of columns were shuffled by themselves
# "quasi NAME", a side for each block, by its first column.
Side: TypeAlias = str
Blocks: TypeAlias = tuple[tuple[str, ...], ...]

SCALARS: frozenset[type[exp.Expr]] = frozenset(
    (
        # names and constants
        *(
            exp.Column,
            exp.Identifier,
            exp.Literal,
            exp.Boolean,
            exp.Null,
            exp.Paren,
            exp.Var,
            exp.Interval,
            exp.IntervalSpan,
        ),
        *(exp.Cast, exp.TryCast, exp.DataType, exp.DataTypeParam),
        # conditions
        *(exp.And, exp.Or, exp.Not, exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.NullSafeEQ, exp.NullSafeNEQ),
        *(exp.Between, exp.In, exp.Is, exp.Like, exp.ILike, exp.Escape, exp.SimilarTo, exp.RegexpLike, exp.Tuple),
        *(exp.Case, exp.If, exp.Coalesce, exp.Nullif, exp.Greatest, exp.Least),
        # arithmetic
        *(exp.Add, exp.Sub, exp.Mul, exp.Div, exp.IntDiv, exp.Mod, exp.Neg, exp.Pow, exp.Abs, exp.Sign),
        *(exp.Round, exp.Floor, exp.Ceil, exp.Sqrt, exp.Exp, exp.Ln, exp.Log),
        # text
        *(exp.DPipe, exp.Concat, exp.Lower, exp.Upper, exp.Length, exp.Substring, exp.Trim, exp.Left, exp.Right),
        *(exp.Replace, exp.StartsWith, exp.EndsWith, exp.Contains, exp.StrPosition, exp.Reverse),
        # dates
        *(
            exp.Extract,
            exp.Year,
            exp.Month,
            exp.Day,
            exp.Quarter,
            exp.Week,
            exp.DayOfWeek,
            exp.DayOfWeekIso,
            exp.DayOfYear,
        ),
        *(exp.Dayname, exp.Monthname, exp.LastDay, exp.Hour, exp.Minute, exp.Second),
        *(exp.DateTrunc, exp.TimestampTrunc, exp.DateDiff, exp.DateAdd, exp.DateSub),
        LookedUp,
    )
)
AGGREGATES: frozenset[type[exp.Expr]] = frozenset(
    (
        *(exp.Count, exp.Sum, exp.Avg, exp.Min, exp.Max),
        *(exp.Median, exp.Quantile, exp.PercentileCont, exp.PercentileDisc, exp.WithinGroup),
        *(exp.Stddev, exp.StddevPop, exp.StddevSamp, exp.Variance, exp.VariancePop),
    )
)


def check_scalar(expression: exp.Expr) -> None:
    """Raise unless an expression is made of what is allowed only."""
    for node in expression.walk():
        if type(node) in AGGREGATES:
            raise QueryError(
                f"`{shown(node)}` stands inside another expression, which is asked of every row",
                hint="ask for each aggregate by itself, and combine the answers",
            )
        if type(node) not in SCALARS:  # not isinstance: a kind of something allowed may do something else
            raise refusal(node)
        if isinstance(node, exp.In) and (node.args.get("query") or node.args.get("unnest")):
            raise refusal(node.args.get("query") or node.args["unnest"])
        if isinstance(node, exp.DataType) and (node.args.get("nested") or node.this == exp.DType.USERDEFINED):
            raise refusal(node)


def check_lists(statement: exp.Expr) -> None:
    """Raise for an IN without anything after it, which the parser lets pass."""
    for node in statement.find_all(exp.In):
        if not any(value for part, value in node.args.items() if part != "this"):
            hint = "write values in parentheses after it, as in IN (1, 2)"
            raise QueryError(f"IN after `{shown(node.this)}` has no list", hint=hint)


def side(expression: exp.Expr, sensitive: str | None, blocks: Blocks | None = None) -> Side:
    """The side of the release that an expression looks at; several are refused."""
    names = _names(expression)
    if blocks is not None:
        return _block(expression, names, sensitive, blocks)
    if sensitive not in names:
        return "quasi"
    if names != {sensitive}:
        raise QueryError(
            f"`{shown(expression)}` mixes the sensitive column `{sensitive}` with a quasi-identifier, and a release"
            " does not say which values of the two belong together",
            hint=APART if isinstance(expression, CONDITIONS) else BY_THE_OTHER,
        )
    return "sensitive"


CONDITIONS = (exp.Connector, exp.Predicate, exp.Not, exp.In, exp.Between)
APART = "join conditions with AND, each about one side only"
BY_THE_OTHER = "ask for figures of the one, grouped by the other"


def _block(expression: exp.Expr, names: set[str], sensitive: str | None, blocks: Blocks) -> Side:
    """The side of an expression where every block of columns is a side; a constant is on any."""
    block = next((block for block in blocks if names <= {*block}), None)
    if block is None:
        several = " and ".join(f"`{name}`" for name in sorted(names))
        apart = "column" if all(len(block) == 1 for block in blocks) else "block of columns"
        raise QueryError(
            f"`{shown(expression)}` mixes {several}, which were shuffled apart from each other",
            hint=f"a condition, key or aggregate is about one {apart}; "
            + ("join conditions on several with AND" if isinstance(expression, CONDITIONS) else "group by the others"),
        )
    return "sensitive" if not names or block == (sensitive,) else f"quasi {block[0]}"


def check_names_a_column(expression: exp.Expr) -> None:
    """Raise for a constant where only a column makes sense."""
    if not _names(expression):
        raise QueryError(
            f"`{shown(expression)}` names no column, so that it is the same for everybody",
            hint="use COUNT(*) to count rows, and a column or an expression over one elsewhere",
        )


def _names(expression: exp.Expr) -> set[str]:
    return {column.name for column in expression.find_all(exp.Column)}


def conjuncts(condition: exp.Expr) -> list[exp.Expr]:
    """The parts of a condition that must all be true; NOT is moved inwards as far as it goes."""
    node = condition.unnest()
    if isinstance(node, exp.And):
        return [*conjuncts(node.left), *conjuncts(node.right)]
    if isinstance(node, exp.Not):
        inner = node.this.unnest()
        if isinstance(inner, exp.Not):
            return conjuncts(inner.this)
        if isinstance(inner, exp.Or):
            return [*conjuncts(exp.not_(inner.left)), *conjuncts(exp.not_(inner.right))]
    return [node]
