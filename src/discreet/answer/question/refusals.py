"""Why a piece of SQL is refused: what it is, in the words of the question, why it has no answer, and what to do."""

from __future__ import annotations

import re
from typing import NamedTuple

from sqlglot import ErrorLevel, exp

from discreet.engines.dialect import LookedUp
from discreet.errors import QueryError
from discreet.words import closest

SHOWN = 80  # signs of a piece of SQL in a message


class Reason(NamedTuple):
    """What is refused (None: the name of the function), why, and what to do."""

    what: str | None
    why: str
    hint: str


SUBQUERY = Reason(
    "a subquery",
    "it is neither one figure of the table nor a list of values",
    "ask it as a question of its own, and write its answer in its place",
)
PAIRED = Reason(
    None,
    "it needs two values of each person at once, and a release does not say which belong together",
    "ask for the average of one, grouped by the other",
)
LISTED = Reason(
    None,
    "it would put the values of single people into one cell",
    "group by the column and count: each value is a row",
)
CLOCK = Reason(
    None, "the same question would have another answer at another time", "write the date or the time as a constant"
)
CHANCE = Reason(None, "the same question would have another answer each time", "ask about everybody who matches")

REASONS: dict[type[exp.Expr], Reason] = {
    exp.Subquery: SUBQUERY,
    exp.Select: SUBQUERY,
    exp.Exists: SUBQUERY,
    exp.Window: Reason(
        "a window function",
        "it looks from row to row, and a release shows no rows",
        "group first, and use it over the answer: SELECT …, RANK() OVER (ORDER BY n) FROM (SELECT … GROUP BY …)",
    ),
    exp.Distinct: Reason(
        "DISTINCT",
        "which values occur is known only of COUNT(DISTINCT x)",
        "group by the column: each different value is a row",
    ),
    exp.Filter: Reason("FILTER", "only an aggregate can have it", "put the condition into WHERE"),
    exp.Star: Reason(
        "`*` outside COUNT(*)",
        "it asks for single rows, and a release does not say which sensitive value belongs to which",
        "ask for figures: how many, the average, the smallest and the largest",
    ),
    exp.Mode: Reason(None, "it has no bounds", "count each value, and take the first: ORDER BY n DESC LIMIT 1"),
    **dict.fromkeys(
        (exp.Corr, exp.CovarPop, exp.CovarSamp, exp.ArgMax, exp.ArgMin, exp.RegrSlope, exp.RegrIntercept, exp.RegrR2),
        PAIRED,
    ),
    **dict.fromkeys((exp.GroupConcat, exp.ArrayAgg, exp.ArrayUniqueAgg, exp.AnyValue, exp.First, exp.Last), LISTED),
    **dict.fromkeys((exp.CurrentDate, exp.CurrentTime, exp.CurrentTimestamp, exp.Localtimestamp), CLOCK),
    **dict.fromkeys((exp.Rand, exp.Randn, exp.Uuid), CHANCE),
    **dict.fromkeys(
        (exp.Rollup, exp.Cube, exp.GroupingSets),
        Reason(None, "it is several questions in one", "ask for each grouping, and join them with UNION ALL"),
    ),
    **dict.fromkeys(
        (exp.Lambda, exp.Array, exp.Struct, exp.Bracket),
        Reason(None, "a question computes with plain values only", "compare the column itself, or use IN with a list"),
    ),
    exp.Limit: Reason(None, "how many rows it is depends on the answer", "write a whole number, such as LIMIT 10"),
    **dict.fromkeys(
        (exp.Placeholder, exp.Parameter),
        Reason("a parameter", "the question says nothing to put into its place", "write the value itself"),
    ),
    exp.DataType: Reason(
        None, "it is no type of plain values", "cast to a number, a text, a date or a time, such as CAST(x AS VARCHAR)"
    ),
    exp.AggFunc: Reason(
        None,
        "no bounds are known of it, and a figure without would be taken for the truth",
        "ask for COUNT, SUM, AVG, MIN, MAX, MEDIAN, QUANTILE_CONT, STDDEV or COUNT(DISTINCT x)",
    ),
}
OTHER = Reason(
    None,
    "it is not one of the functions that a question may use",
    "write it with comparisons, CASE, arithmetic, or functions of text and of dates",
)
BY_NAME = {"now": CLOCK, "today": CLOCK, "get_current_time": CLOCK, "setseed": CHANCE, "gen_random_uuid": CHANCE}


def refusal(node: exp.Expr) -> QueryError:
    """The error for a piece of SQL that is not supported."""
    node = node.this if isinstance(node, exp.IgnoreNulls | exp.RespectNulls) else node
    piece = shown(node)
    called = re.match(r"\w+(?=\()", piece)  # a function as it is written, not as the parser calls it
    name = node.meta.get("name") or (called[0] if called else node.key)
    found = next((reason for kind, reason in REASONS.items() if isinstance(node, kind)), OTHER)
    what, why, hint = BY_NAME.get(name.lower(), found)
    known = closest(name, KNOWN) if isinstance(node, exp.Anonymous) else None
    bare = not any(node.args.values())  # nothing of the question is in it
    quoted = "" if (bare and what is not None) or (what is None and called is None) else f"`{piece}`: "
    what = what or f"`{name.upper() if called else piece}`"
    hint = f"{hint}; of aggregates, {REASONS[exp.AggFunc].hint}" if found is OTHER and called else hint
    hint = f"did you mean {known}? Else {hint}" if known is not None else hint
    return QueryError(f"{what} is not supported: {quoted}{why}", hint=hint)


KNOWN = (
    *("COUNT", "SUM", "AVG", "MIN", "MAX", "MEDIAN", "QUANTILE_CONT", "STDDEV", "VARIANCE", "COALESCE", "NULLIF"),
    *("ROUND", "FLOOR", "CEIL", "ABS", "SQRT", "LOWER", "UPPER", "LENGTH", "SUBSTRING", "TRIM", "LEFT", "RIGHT"),
    *("REPLACE", "CONCAT", "EXTRACT", "YEAR", "MONTH", "DATE_TRUNC", "DATE_DIFF", "GREATEST", "LEAST"),
)


def shown(node: exp.Expr) -> str:
    """A piece of a question as it was written, without the quotes that names do not need, and not too long."""

    def plain(each: exp.Expr) -> exp.Expr:
        if isinstance(each, LookedUp):
            return each.shown()
        simple = isinstance(each, exp.Identifier) and re.fullmatch(r"[A-Za-z_]\w*", each.this)
        return exp.Identifier(this=each.this, quoted=False) if simple else each

    text = str(node.transform(plain).sql(dialect="duckdb", unsupported_level=ErrorLevel.IGNORE))
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 1]}…"


EXAMPLE = "SELECT sex, COUNT(*) FROM microdata GROUP BY sex"
CLAUSES = {
    "joins": ("it would put people beside others", "join the table with one of your own (`tables`, or --table)"),
    "with_": ("what it names is no figure of the table", "write the question in one SELECT"),
    "having": ("it is about figures that are only estimated", "sort by the figure, and look at its bounds"),
    "qualify": ("it is about single rows", "group first, and sort by the figure"),
    "sample": ("a sample drawn from a release is no sample of the table", "ask about everybody who matches"),
    "pivots": ("which columns there are would depend on values", "group by the columns, and count"),
    "into": ("a question only reads", "take the answer with `to_arrow()`, or on a shell with --csv"),
    "windows": ("it looks from row to row, and a release shows no rows", "group by the columns of PARTITION BY"),
    "locks": ("a question only reads", "leave it out"),
}


def not_read(error: Exception) -> QueryError:
    """The error for what is no SQL; `error` may say where."""
    [first, *_] = getattr(error, "errors", None) or [{}]
    line, column, near = (first.get(name) for name in ("line", "col", "highlight"))
    at = f" at line {line}, column {column}" if line else ""
    near = f", near `{' '.join(near.split())[:SHOWN]}`" if near and near.strip() else ""
    return QueryError(
        f"the question is not SQL that can be read{at}{near}", hint=f"ask in DuckDB's dialect, such as {EXAMPLE}"
    )


def not_a_select(statement: exp.Expr) -> QueryError:
    """The error for a statement that is no question."""
    [kind, *_] = statement.sql(dialect="duckdb").split()
    if kind.upper() == "EXPLAIN":
        why, hint = "it asks how and not what", "`discreet ask --explain` and `Release.explain` print what is run"
    elif isinstance(statement, exp.Pivot):
        why, hint = CLAUSES["pivots"]
    elif isinstance(statement, exp.Describe | exp.Show | exp.Pragma | exp.Summarize):
        why, hint = "it is about the engine", "`discreet show RELEASE` says which columns there are"
    elif isinstance(statement, exp.Set | exp.Attach | exp.Detach | exp.Use | exp.Command):
        why, hint = (
            "it is about the engine",
            "`timeout` and `memory_limit` are all that can be set, in Python or a shell",
        )
    elif isinstance(statement, exp.Copy):
        why, hint = "it writes a file", "ask, and take the answer with --csv or `to_arrow()`"
    else:
        why, hint = "nothing in a release can be changed", f"ask with one SELECT, such as {EXAMPLE}"
    return QueryError(f"a release answers SELECT only, not {kind.upper()}: {why}", hint=hint)


def no_clause(clause: str, value: object) -> QueryError:
    """The error for a clause that a question cannot have."""
    why, hint = CLAUSES.get(clause, ("it means nothing for figures of a release", "leave it out"))
    word = {"joins": "JOIN", "windows": "WINDOW", "pivots": "PIVOT"}.get(clause, clause.rstrip("_").upper())
    parts = value if isinstance(value, list) else [value]
    quoted = " ".join(shown(part).strip() for part in parts if isinstance(part, exp.Expr))
    return QueryError(f"{word} is not supported: " + (f"`{quoted}`: " if quoted else "") + why, hint=hint)
