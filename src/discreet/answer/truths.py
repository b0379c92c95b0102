"""How true a condition is over a box: at which of its points it holds, at all of them, some or none.

At a point a condition is true (1), unknown (0) or false (-1); AND is the least of its parts, OR the most,
NOT the negative. So the least and the most truth over a box follow from those of the parts: a comparison
with a constant looks at the ends of an interval, anything else at all points, if they are few. Where
this is not exact it says that the condition holds at some points and not at others, never the contrary.
Claim: truths_hold_at_every_point — no point of a box is less true than the least or more than the most.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TypeAlias

from sqlglot import exp, parse_one

Types: TypeAlias = Mapping[str, str]  # of the columns of a box, in the engine's words

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


def ordered(kind: str) -> bool:
    """Whether a box is an interval in a column of this type, and not a set."""
    return re.fullmatch(ORDERED, kind) is not None


def truths(condition: exp.Expr, types: Types, *, listed: bool = True) -> Truths:
    """The truths of a condition over the row of `boxes`; unless `listed`, without looking at points one by one."""
    node = condition.unnest()
    names = _names(node)
    if not names:
        return Truths(_truth(node), _truth(node))
    if len(names) == 1 and not ordered(types[names[0]]):
        return _over_points(node, names, types, ANYTHING)
    by_parts = _of_parts(node, types)
    exact = _simple(node) if len(names) == 1 else isinstance(node, exp.And | exp.Or | exp.Not)
    return by_parts if exact or not listed else _over_points(node, names, types, by_parts)


def part(text: str, **parts: exp.Expr) -> exp.Expr:
    """A piece of SQL of ours, with other pieces in the places that are named for them."""
    return exp.replace_placeholders(_parsed(text), **parts)


@cache
def _parsed(text: str) -> exp.Expr:
    return parse_one(text, dialect="duckdb")


def _of_parts(node: exp.Expr, types: Types) -> Truths:
    several = len(_names(node)) > 1
    if isinstance(node, exp.Not):
        return truths(node.this, types, listed=several).negated()
    if isinstance(node, exp.And | exp.Or):
        parts = _gathered(node) if several else node.flatten()
        return _joined(type(node), [truths(each, types, listed=several) for each in parts])
    if isinstance(node, exp.In) and _is_column(node.this) and all(map(_is_constant, node.expressions or [node])):
        return _listed(node.this, node.expressions, types)
    return _of_ends(node, types) if _simple(node) else ANYTHING


def _of_ends(node: exp.Expr, types: Types) -> Truths:
    if isinstance(node, exp.Between):
        ends = [_compared(node.this, *end, types) for end in ((">=", node.args["low"]), ("<=", node.args["high"]))]
        return _joined(exp.And, ends)
    if isinstance(node, exp.Is):
        return Truths(*(_placed(part(text), node.this.unnest().name, types) for text in (NONE_PRESENT, ANY_MISSING)))
    sign = SIGNS[type(node)]
    if _is_column(node.this):
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
    if any(map(_untyped, constants)):
        return _joined(exp.Or, [_compared(column, "=", constant, types) for constant in constants])
    each = exp.Lambda(this=_truth(part(INSIDE, c=exp.to_identifier("c"))), expressions=[exp.to_identifier("c")])
    most = exp.ArrayMax(this=exp.Transform(this=exp.array(*constants), expression=each))
    least = part("low = high AND :in", **{"in": exp.In(this=exp.column("low"), expressions=list(constants))})
    return _at_ends(column, _truth(least), most, types)


def _at_ends(column: exp.Expr, least: exp.Expr, most: exp.Expr, types: Types) -> Truths:
    """The truths of what is or is not missing, from those of what is not."""
    found = (part(LEAST, t=least), part(MOST, t=most))
    return Truths(*(_placed(each, column.unnest().name, types) for each in found))


def _over_points(node: exp.Expr, names: Sequence[str], types: Types, otherwise: Truths) -> Truths:
    """The truths of a condition looked at in all points, or other ones if the points are too many."""
    places = {name: exp.to_identifier(f"p{i}") for i, name in enumerate(names)}
    truth = _truth(node.transform(lambda each: places[each.name].copy() if isinstance(each, exp.Column) else each))
    points = [_placed(part(_points(types[name])), name, types) for name in names]

    def over(kind: type[exp.Expr], otherwise: exp.Expr) -> exp.Expr:
        found = truth.copy()
        for every, place in zip(points, places.values(), strict=True):
            each = exp.Lambda(this=found, expressions=[place.copy()])
            found = kind(this=exp.Transform(this=every.copy(), expression=each))
        if len(points) > 1:
            number = exp.array(*(exp.func("LEN", every.copy()) for every in points))
            found = part(f"CASE WHEN LIST_PRODUCT(:n) <= {MOST_POINTS} THEN :found END", n=number, found=found)
        return exp.func("COALESCE", found, otherwise.copy())

    return Truths(over(exp.ArrayMin, otherwise.least), over(exp.ArrayMax, otherwise.most))


def _points(kind: str) -> str:
    """All points of a box in one column, as a list; NULL if they are too many."""
    if not ordered(kind):
        return "points"
    few, every = "low = high", "[low]"
    if kind == "DATE" or re.fullmatch(WHOLE, kind):
        # the difference of two whole numbers may be too large for their type
        whole = kind != "DATE"
        about = "CAST(high AS DOUBLE) - CAST(low AS DOUBLE)" if whole else "high - low"
        extent = "CAST(CAST(high AS HUGEINT) - CAST(low AS HUGEINT) AS BIGINT)" if whole else "high - low"
        few = f"{about} < {MOST_POINTS}"
        every = f"LIST_TRANSFORM(RANGE({extent} + 1), LAMBDA i : CAST(low + CAST(i AS INTEGER) AS {kind}))"
    return f"""
        CASE WHEN missing AND low IS NULL THEN [NULL]
             WHEN {few} THEN CASE WHEN missing THEN LIST_APPEND({every}, NULL) ELSE {every} END END
    """


def _placed(piece: exp.Expr, name: str, types: Types) -> exp.Expr:
    """A piece that names `low`, `high`, `missing` or `points`, told of which column."""
    i = list(types).index(name)
    return piece.transform(
        lambda each: exp.column(f"{each.name}_{i}", table="boxes") if isinstance(each, exp.Column) else each
    )


def _simple(node: exp.Expr) -> bool:
    """Whether the ends of an interval decide a condition: comparisons with constants, AND, NOT."""
    match node.unnest():
        case exp.And() as both:
            return all(map(_simple, both.flatten()))
        case exp.Not() as other:
            return _simple(other.this)
        case exp.Between() as between:
            ends = between.args["low"], between.args["high"]
            return _is_column(between.this) and all(map(_is_constant, ends)) and not between.args.get("symmetric")
        case exp.Is() as test:
            return _is_column(test.this) and isinstance(test.expression, exp.Null)
        case atom if type(atom) in SIGNS:
            sides = atom.this, atom.expression
            return any(map(_is_column, sides)) and any(map(_is_constant, sides))
    return False


def _is_column(node: exp.Expr) -> bool:
    return isinstance(node.unnest(), exp.Column)


def _is_constant(node: exp.Expr) -> bool:
    return all(type(each) in CONSTANT and not each.is_type(*exp.DataType.TEXT_TYPES) for each in node.walk())


def _untyped(node: exp.Expr) -> bool:
    """Whether a constant has a text or NULL, which take the type of a column only where they stand beside it."""
    bare = (each for each in node.find_all(exp.Literal, exp.Null) if not isinstance(each.parent, exp.Cast))
    return any(isinstance(each, exp.Null) or each.is_string for each in bare)


def _names(node: exp.Expr) -> list[str]:
    return list(dict.fromkeys(column.name for column in node.find_all(exp.Column)))


def _gathered(node: exp.And | exp.Or) -> Iterator[exp.Expr]:
    """The parts of a condition, all those about the same single column as one."""
    parts: dict[object, list[exp.Expr]] = {}
    for each in node.flatten():
        names = _names(each)
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
