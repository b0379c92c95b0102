"""How far a condition covers a box: wholly, not at all, or which share of it.

Inside a box columns are independent: a value in one tells nothing of the others. So parts of a
condition about different columns multiply, joined by OR their complements do, and all parts about one
column are taken together and measured by whoever knows the column. Where parts share several
columns, one of the columns is taken out: either its parts hold or they do not, and for each case what
remains is measured by itself. A condition that is unknown somewhere does not hold there; NOT is moved
inwards, down to comparisons, so no other part has to ask whether something is unknown or false.
Cost: linear in the condition, times two for each part of a column that is taken out.
Claim: shares_equal_counting_all_points — a share is what counting the points of a box one by one gives.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Literal, TypeAlias

from sqlglot import exp

from discreet.answer.matches.boxes.truths import names_in, part

MOST_PARTS = 6  # of a column that is taken out: then there are 2 ** 6 cases


@dataclass(frozen=True)
class Cover:
    """Whether a condition holds at every point of a box, whether at some, and in which share of the box."""

    every: exp.Expr
    some: exp.Expr
    share: exp.Expr


@dataclass(frozen=True)
class Leaf:
    """A condition that is measured as it is, and the columns that it is about."""

    condition: exp.Expr
    names: tuple[str, ...]


@dataclass(frozen=True)
class Join:
    """Conditions of which all must hold, or any."""

    word: Literal["and", "or"]
    parts: tuple[Tree, ...]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for each in self.parts for name in each.names))


Tree: TypeAlias = Leaf | Join
Told: TypeAlias = Tree | bool  # what remains of a tree, once it may be decided
Measure: TypeAlias = Callable[[Leaf], Cover]


def cover(condition: exp.Expr, measure: Measure) -> Cover:
    """How far a condition covers a box; `measure` knows that of every leaf."""
    return _cover(_tree(condition, negated=False), measure)


def always(*, holds: bool) -> Cover:
    """The cover of what holds everywhere, or nowhere."""
    return Cover(exp.convert(holds), exp.convert(holds), exp.Literal.number(int(holds)))


def written(tree: Tree) -> exp.Expr:
    """A tree as a condition again."""
    if isinstance(tree, Leaf):
        return tree.condition.copy()
    return (exp.and_ if tree.word == "and" else exp.or_)(*map(written, tree.parts))


def _tree(condition: exp.Expr, *, negated: bool) -> Tree:
    node = condition.unnest()
    if isinstance(node, exp.Not):
        return _tree(node.this, negated=not negated)
    if isinstance(node, exp.And | exp.Or):
        word: Literal["and", "or"] = "and" if isinstance(node, exp.And) != negated else "or"
        return _joined(word, [_tree(each, negated=negated) for each in node.flatten()])
    return Leaf(exp.not_(node) if negated else node, tuple(names_in(node)))


def _joined(word: Literal["and", "or"], parts: Sequence[Tree]) -> Tree:
    """Parts joined by a word: those that are joined by it themselves are dissolved, leaves of one column become one."""
    flat = [
        inner for each in parts for inner in (each.parts if isinstance(each, Join) and each.word == word else [each])
    ]
    gathered: dict[object, list[Tree]] = {}
    for each in flat:
        alone = isinstance(each, Leaf) and len(each.names) == 1
        gathered.setdefault(each.names if alone else id(each), []).append(each)
    found = [
        Leaf(written(Join(word, tuple(same))), same[0].names) if len(same) > 1 else same[0]
        for same in gathered.values()
    ]
    return found[0] if len(found) == 1 else Join(word, tuple(found))


def _cover(tree: Tree, measure: Measure) -> Cover:
    if isinstance(tree, Leaf):
        return measure(tree)
    tangles = list(_tangles(tree.parts))
    if len(tangles) == 1:
        return _of_tangle(tree, measure)
    return _combined(tree.word, [_cover(_joined(tree.word, same), measure) for same in tangles])


def _tangles(parts: Sequence[Tree]) -> Iterator[list[Tree]]:
    """The parts, those together that share columns with each other."""
    left = list(parts)
    while left:
        found, names = [left.pop(0)], set[str]()
        while True:
            names.update(*(each.names for each in found))
            more = [each for each in left if names.intersection(each.names)]
            if not more:
                break
            found += more
            left = [each for each in left if each not in more]
        yield found


def _of_tangle(tree: Join, measure: Measure) -> Cover:
    """The cover of parts that share columns: with one column taken out, or as they are if none can be."""
    about = {name: list(dict.fromkeys(_about(tree, name))) for name in tree.names}
    apart = {
        name: [leaf for leaf in leaves if leaf is not None]
        for name, leaves in about.items()
        if None not in leaves and len(leaves) <= MOST_PARTS
    }
    if not apart:
        return measure(Leaf(written(tree), tree.names))
    name = min(apart, key=lambda each: len(apart[each]))
    cases = ((measure(_case(name, apart[name], held)), rest) for held, rest in _cases(tree, apart[name]))
    possible = [(case, rest) for case, rest in cases if case.some != exp.false()]
    return _of_cases(
        [(case, always(holds=rest) if isinstance(rest, bool) else _cover(rest, measure)) for case, rest in possible]
    )


def _about(tree: Tree, name: str) -> Iterator[Leaf | None]:
    """The leaves about one column; None for one that is about others too."""
    if isinstance(tree, Join):
        for each in tree.parts:
            yield from _about(each, name)
    elif name in tree.names:
        yield tree if len(tree.names) == 1 else None


def _cases(tree: Told, leaves: Sequence[Leaf]) -> Iterator[tuple[tuple[bool, ...], Told]]:
    """What remains of a tree if each of these leaves holds or not."""
    if not leaves:
        yield (), tree
        return
    for holds in (True, False):
        for held, rest in _cases(_told(tree, leaves[0], holds=holds), leaves[1:]):
            yield (holds, *held), rest


def _told(tree: Told, leaf: Leaf, *, holds: bool) -> Told:
    """A tree once it is known whether a leaf holds."""
    if not isinstance(tree, Join):
        return holds if tree == leaf else tree
    parts = [_told(each, leaf, holds=holds) for each in tree.parts]
    decided = tree.word == "or"  # what one part alone decides
    if any(each is decided for each in parts):
        return decided
    left = [each for each in parts if not isinstance(each, bool)]
    return _joined(tree.word, left) if left else not decided


def _case(name: str, leaves: Sequence[Leaf], held: Sequence[bool]) -> Leaf:
    conditions = [exp.Is(this=exp.paren(leaf.condition.copy()), expression=exp.true()) for leaf in leaves]
    return Leaf(
        exp.and_(*(each if holds else exp.not_(each) for each, holds in zip(conditions, held, strict=True))), (name,)
    )


def _combined(word: Literal["and", "or"], covers: Sequence[Cover]) -> Cover:
    """Independent parts: shares multiply, or for OR their complements."""
    if len(covers) == 1:
        return covers[0]
    join = exp.and_ if word == "and" else exp.or_
    every, some = join(*(each.every for each in covers)), join(*(each.some for each in covers))
    if word == "and":
        return Cover(every, some, _product([each.share for each in covers]))
    left_over = _product([part("1 - (:s)", s=each.share) for each in covers])
    return Cover(every, some, part("1 - :p", p=left_over))


def _of_cases(cases: Sequence[tuple[Cover, Cover]]) -> Cover:
    """Of cases of which exactly one is so, with what remains in each."""
    shares = [_product([case.share, rest.share]) for case, rest in cases]
    return Cover(
        exp.and_(*(exp.or_(exp.not_(case.some), rest.every) for case, rest in cases)),
        exp.or_(*(exp.and_(case.some, rest.some) for case, rest in cases)),
        reduce(lambda one, other: part(":a + :b", a=one, b=other), shares),
    )


def _product(shares: Sequence[exp.Expr]) -> exp.Expr:
    return reduce(lambda one, other: part("(:a) * (:b)", a=one, b=other), shares)
