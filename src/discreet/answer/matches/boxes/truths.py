"""How true a condition is over a box: at which of its points it holds, at all of them, some or none.

At a point a condition is true (1), unknown (0) or false (-1); AND is the least of its parts, OR the most,
NOT the negative. So the least and the most truth over a box follow from those of the parts: a comparison
with a constant looks at the ends of an interval, anything else at all points, if they are few. Where
this is not exact it says that the condition holds at some points and not at others, never the contrary.
Claim: truths_hold_at_every_point — no point of a box is less true than the least or more than the most.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TypeAlias

from sqlglot import exp, parse_one


@dataclass(frozen=True)
class Kind:
    """A column of a box: its type in the engine's words, and whether a box is an interval in it, and not a set."""

    type: str
    interval: bool


Types: TypeAlias = Mapping[str, Kind]  # of the columns of a box

MOST_POINTS = 400  # of one box that are looked at one by one: all ages, all days of a year
WHOLE = r"U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?"
ORDERED = rf"{WHOLE}|DATE|(DECIMAL|DOUBLE|FLOAT|TIME).*"

SIGNS: dict[type[exp.Expr], str] = {exp.LT: "<", exp.LTE: "<=", exp.GT: ">", exp.GTE: ">=", exp.EQ: "=", exp.NEQ: "<>"}
TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
# What a constant may be made of: nothing whose type could change how a column is compared.
CONSTANT = {
    *(exp.Literal, exp.Neg, exp.Paren, exp.Null, exp.Add, exp.Sub, exp.Interval, exp.Var),
    *(exp.Cast, exp.DataType, exp.DataTypeParam),
}


@dataclass(frozen=True)
class Truths:
    """The least and the most truth of a condition over a box."""

    least: exp.Expr
    most: exp.Expr

    def negated(self) -> Truths:
        return Truths(_negative(self.most), _negative(self.least))


ANYTHING = Truths(exp.Literal.number(-1), exp.Literal.number(1))


def kind_of(word: str) -> Kind:
    """How a box that is made from rows lies in a column of this type."""
    return Kind(word, re.fullmatch(ORDERED, word) is not None)


def whole(kind: Kind) -> bool:
    """Whether the values of a column can be counted one by one, from one to the next."""
    return kind.type == "DATE" or re.fullmatch(WHOLE, kind.type) is not None


def truths(condition: exp.Expr, types: Types, *, listed: bool = True) -> Truths:
    """The truths of a condition over the row of `boxes`; unless `listed`, without looking at points one by one."""
    node = condition.unnest()
    names = names_in(node)
    if not names:
        return Truths(_truth(node), _truth(node))
    if len(names) == 1 and not types[names[0]].interval:
        return _over_points(node, names, types, ANYTHING)
    by_parts = _of_parts(node, types)
    exact = simple(node) if len(names) == 1 else isinstance(node, exp.And | exp.Or | exp.Not) or asks_whether(node)
    return by_parts if exact or not listed else _over_points(node, names, types, by_parts)


def part(text: str, **parts: exp.Expr) -> exp.Expr:
    """A piece of SQL of ours, with other pieces in the places that are named for them."""
    return exp.replace_placeholders(_parsed(text), **parts)


@cache
def _parsed(text: str) -> exp.Expr:
    return parse_one(text, dialect="duckdb")


def _of_parts(node: exp.Expr, types: Types) -> Truths:
    several = len(names_in(node)) > 1
    if isinstance(node, exp.Not):
        return truths(node.this, types, listed=several).negated()
    if asks_whether(node):
        found = truths(node.this, types, listed=several)
        found = found if node.expression.this else found.negated()
        return Truths(*(part("CASE WHEN :t = 1 THEN 1 ELSE -1 END", t=end) for end in (found.least, found.most)))
    if isinstance(node, exp.And | exp.Or):
        parts = _gathered(node) if several else node.flatten()
        return _joined(type(node), [truths(each, types, listed=several) for each in parts])
    if isinstance(node, exp.In) and is_column(node.this) and all(map(is_constant, node.expressions or [node])):
        return _listed(node.this, node.expressions, types)
    return _of_ends(node, types) if simple(node) else ANYTHING


def _of_ends(node: exp.Expr, types: Types) -> Truths:
    if isinstance(node, exp.Between):
        ends = [_compared(node.this, *end, types) for end in ((">=", node.args["low"]), ("<=", node.args["high"]))]
        return _joined(exp.And, ends)
    if isinstance(node, exp.Is):
        return Truths(*(placed(part(text), node.this.unnest().name, types) for text in (NONE_PRESENT, ANY_MISSING)))
    sign = SIGNS[type(node)]
    if is_column(node.this):
        return _compared(node.this, sign, node.expression, types)
    return _compared(node.expression, TURNED.get(sign, sign), node.this, types)


def _compared(column: exp.Expr, sign: str, constant: exp.Expr, types: Types) -> Truths:
    """A comparison with a constant is least true at one end of the interval, and most true at the other."""
    if sign == "<>":
        return _compared(column, "=", constant, types).negated()
    sides = [f"low {sign} :c", f"high {sign} :c"]
    if sign == "=":
        sides = ["low = :c AND high = :c", INSIDE]
    elif sign in {"<", "<="}:
        sides.reverse()
    least, most = (_truth(part(side, c=constant)) for side in sides)
    return _at_ends(column, least, most, types)


def _listed(column: exp.Expr, constants: Sequence[exp.Expr], types: Types) -> Truths:
    """IN a list is most true if one of its constants lies inside, and least true unless the interval is a point."""
    if any(map(untyped, constants)):
        return _joined(exp.Or, [_compared(column, "=", constant, types) for constant in constants])
    each = exp.Lambda(this=_truth(part(INSIDE, c=exp.to_identifier("c"))), expressions=[exp.to_identifier("c")])
    most = exp.ArrayMax(this=exp.Transform(this=exp.array(*constants), expression=each))
    least = part("low = high AND :in", **{"in": exp.In(this=exp.column("low"), expressions=list(constants))})
    return _at_ends(column, _truth(least), most, types)


def _at_ends(column: exp.Expr, least: exp.Expr, most: exp.Expr, types: Types) -> Truths:
    """The truths of what is or is not missing, from those of what is not."""
    found = (part(LEAST, t=least), part(MOST, t=most))
    return Truths(*(placed(each, column.unnest().name, types) for each in found))


def _over_points(node: exp.Expr, names: Sequence[str], types: Types, otherwise: Truths) -> Truths:
    """The truths of a condition looked at in all points, or other ones if the points are too many."""

    def over(fold: str, otherwise: exp.Expr) -> exp.Expr:
        return exp.func("COALESCE", _folded(fold, _truth, node, names, types), otherwise.copy())

    return Truths(over("LIST_MIN", otherwise.least), over("LIST_MAX", otherwise.most))


def share_of_points(node: exp.Expr, types: Types) -> exp.Expr:
    """In which share of all points of a box a condition holds; NULL if the points are too many."""
    names = names_in(node)
    counted = _folded("LIST_SUM", lambda each: part("CASE WHEN :c THEN 1 ELSE 0 END", c=each), node, names, types)
    return part("CAST(:counted AS DOUBLE) / :all", counted=counted, all=_number_of_points(names, types))


def _folded(
    fold: str, value: Callable[[exp.Expr], exp.Expr], node: exp.Expr, names: Sequence[str], types: Types
) -> exp.Expr:
    """What a condition is worth at all points, folded into one value; NULL if the points are too many."""
    places = {name: exp.to_identifier(f"p{i}") for i, name in enumerate(names)}
    found = value(node.transform(lambda each: places[each.name].copy() if isinstance(each, exp.Column) else each))
    for name, place in places.items():
        each = exp.Lambda(this=found, expressions=[place.copy()])
        found = exp.func(fold, exp.Transform(this=_points(name, types), expression=each), dialect="duckdb")
    if len(names) > 1:
        few = f"CASE WHEN :n <= {MOST_POINTS} THEN :found END"
        found = part(few, n=_number_of_points(names, types), found=found)
    return found


def _number_of_points(names: Sequence[str], types: Types) -> exp.Expr:
    return part("LIST_PRODUCT(:n)", n=exp.array(*(exp.func("LEN", _points(name, types)) for name in names)))


def _points(name: str, types: Types) -> exp.Expr:
    return placed(part(points_of(types[name])), name, types)


def points_of(kind: Kind) -> str:
    """All points of a box in one column, as a list; NULL if they are too many."""
    if not kind.interval:
        return "points"
    few, every = "low = high", "[low]"
    if whole(kind):
        # the difference of two whole numbers may be too large for their type
        day = kind.type == "DATE"
        about = "high - low" if day else "CAST(high AS DOUBLE) - CAST(low AS DOUBLE)"
        extent = "high - low" if day else "CAST(CAST(high AS HUGEINT) - CAST(low AS HUGEINT) AS BIGINT)"
        few = f"{about} < {MOST_POINTS}"
        every = f"LIST_TRANSFORM(RANGE({extent} + 1), LAMBDA i : CAST(low + CAST(i AS INTEGER) AS {kind.type}))"
    return f"""
        CASE WHEN missing AND low IS NULL THEN [NULL]
             WHEN {few} THEN CASE WHEN missing THEN LIST_APPEND({every}, NULL) ELSE {every} END END
    """


def placed(piece: exp.Expr, name: str, types: Types) -> exp.Expr:
    """A piece that names `low`, `high`, `missing` or `points` of a box, told of which column."""
    i = list(types).index(name)
    return piece.transform(
        lambda each: exp.column(f"{each.name}_{i}", table="boxes") if isinstance(each, exp.Column) else each
    )


def simple(node: exp.Expr) -> bool:
    """Whether the ends of an interval decide a condition: comparisons with constants, AND, NOT."""
    match node.unnest():
        case exp.And() as both:
            return all(map(simple, both.flatten()))
        case exp.Not() | exp.Is(expression=exp.Boolean()) as other:
            return simple(other.this)
        case exp.Between() as between:
            ends = between.args["low"], between.args["high"]
            return is_column(between.this) and all(map(is_constant, ends)) and not between.args.get("symmetric")
        case exp.Is() as test:
            return is_column(test.this) and isinstance(test.expression, exp.Null)
        case atom if type(atom) in SIGNS:
            sides = atom.this, atom.expression
            return any(map(is_column, sides)) and any(map(is_constant, sides))
    return False


def asks_whether(node: exp.Expr) -> bool:
    """Whether a node is `… IS TRUE` or `… IS FALSE`."""
    return isinstance(node, exp.Is) and isinstance(node.expression, exp.Boolean)


def is_column(node: exp.Expr) -> bool:
    return isinstance(node.unnest(), exp.Column)


def is_constant(node: exp.Expr) -> bool:
    return all(type(each) in CONSTANT and not each.is_type(*exp.DataType.TEXT_TYPES) for each in node.walk())


def untyped(node: exp.Expr) -> bool:
    """Whether a constant has a text or NULL, which take the type of a column only where they stand beside it."""
    bare = (each for each in node.find_all(exp.Literal, exp.Null) if not isinstance(each.parent, exp.Cast))
    return any(isinstance(each, exp.Null) or each.is_string for each in bare)


def names_in(node: exp.Expr) -> list[str]:
    return list(dict.fromkeys(column.name for column in node.find_all(exp.Column)))


def _gathered(node: exp.And | exp.Or) -> Iterator[exp.Expr]:
    """The parts of a condition, all those about the same single column as one."""
    parts: dict[object, list[exp.Expr]] = {}
    for each in node.flatten():
        names = names_in(each)
        parts.setdefault(names[0] if len(names) == 1 else id(each), []).append(each)
    join = exp.and_ if isinstance(node, exp.And) else exp.or_
    return (join(*same) for same in parts.values())


def _joined(kind: type[exp.Expr], parts: Sequence[Truths]) -> Truths:
    word = "LEAST" if kind is exp.And else "GREATEST"
    least, most = ([each.least for each in parts], [each.most for each in parts])
    return Truths(exp.func(word, *least, dialect="duckdb"), exp.func(word, *most, dialect="duckdb"))


def _truth(condition: exp.Expr) -> exp.Expr:
    return part("CASE WHEN :c THEN 1 WHEN NOT (:c) THEN -1 ELSE 0 END", c=condition)


def _negative(truth: exp.Expr) -> exp.Expr:
    return truth.this if isinstance(truth, exp.Neg) else exp.Neg(this=truth)


INSIDE = "low <= :c AND high >= :c"
# `missing` is NULL where a column may hold anything.
LEAST = "LEAST(:t, CASE WHEN missing THEN 0 WHEN NOT missing THEN 1 ELSE -1 END)"
MOST = "GREATEST(:t, CASE WHEN missing THEN 0 WHEN NOT missing THEN -1 ELSE 1 END)"
NONE_PRESENT = "CASE WHEN missing AND low IS NULL THEN 1 ELSE -1 END"
ANY_MISSING = "CASE WHEN NOT missing THEN -1 ELSE 1 END"
