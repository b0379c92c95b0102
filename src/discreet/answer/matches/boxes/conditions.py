"""A condition as a tree of parts, of which those about different columns are independent inside a box.

NOT is moved inwards, down to comparisons, so that no part has to ask whether something is unknown or false; all
parts about one column become one leaf. Where parts share several columns, one of the columns can be taken out: either
its leaves hold or they do not, and for each case something simpler remains.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal, TypeAlias

from sqlglot import exp, parse_one

from discreet.engines.dialect import placeless

MOST_LEAVES = 6  # of a column that is taken out: then there are 2 ** 6 cases

Word: TypeAlias = Literal["and", "or"]


@dataclass(frozen=True)
class Leaf:
    """A condition that is measured as it is, and the columns that it is about."""

    condition: exp.Expr
    names: tuple[str, ...]


@dataclass(frozen=True)
class Join:
    """Conditions of which all must hold, or any."""

    word: Word
    parts: tuple[Tree, ...]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for each in self.parts for name in each.names))


Tree: TypeAlias = Leaf | Join
Rest: TypeAlias = Tree | bool  # what remains of a tree once it may be decided


def part(text: str, **parts: exp.Expr) -> exp.Expr:
    """A piece of SQL of ours, with other pieces in the places that are named for them."""
    return exp.replace_placeholders(_parsed(text), **parts)


def parsed(text: str) -> exp.Select:
    """A query of ours, for nobody else to change."""
    return placeless(parse_one(text, dialect="duckdb", into=exp.Select))


@cache
def _parsed(text: str) -> exp.Expr:
    return placeless(parse_one(text, dialect="duckdb"))


def about_values(condition: exp.Expr, columns: dict[str, exp.Column]) -> exp.Expr:
    """A condition about other columns in the place of those it names."""
    return condition.transform(lambda node: columns[node.name].copy() if isinstance(node, exp.Column) else node)


def tree(condition: exp.Expr, *, negated: bool = False) -> Tree:
    node = condition.unnest()
    if isinstance(node, exp.Not):
        return tree(node.this, negated=not negated)
    if isinstance(node, exp.And | exp.Or):
        word: Word = "and" if isinstance(node, exp.And) != negated else "or"
        return joined(word, [tree(each, negated=negated) for each in node.flatten()])
    names = dict.fromkeys(column.name for column in node.find_all(exp.Column))
    return Leaf(exp.not_(node) if negated else node, tuple(names))


def joined(word: Word, parts: Sequence[Tree]) -> Tree:
    """Parts joined by a word: those that are joined by it themselves are dissolved, leaves of one column become one."""
    flat = [
        inner for each in parts for inner in (each.parts if isinstance(each, Join) and each.word == word else [each])
    ]
    gathered: dict[object, list[Tree]] = {}
    for each in flat:
        alone = isinstance(each, Leaf) and len(each.names) == 1
        gathered.setdefault(each.names if alone else id(each), []).append(each)
    found = [as_leaf(Join(word, tuple(same))) if len(same) > 1 else same[0] for same in gathered.values()]
    return found[0] if len(found) == 1 else Join(word, tuple(found))


def as_leaf(tree: Tree) -> Leaf:
    """A tree as one condition again."""
    if isinstance(tree, Leaf):
        return tree
    join = exp.and_ if tree.word == "and" else exp.or_
    return Leaf(join(*(as_leaf(each).condition.copy() for each in tree.parts)), tree.names)


def independent(join: Join) -> list[Tree]:
    """The parts, those that share columns with each other as one."""
    left, found = list(join.parts), []
    while left:
        same, names = [left.pop(0)], set[str]()
        while True:
            names.update(*(each.names for each in same))
            more = [each for each in left if names.intersection(each.names)]
            if not more:
                break
            same += more
            left = [each for each in left if each not in more]
        found.append(joined(join.word, same))
    return found


def cases(join: Join) -> list[tuple[Leaf, Rest]] | None:
    """With one column taken out, conditions on it of which exactly one holds, and what remains in each case.

    None if every column has too many leaves, or one that is about others too.
    """
    about = {name: list(dict.fromkeys(_about(join, name))) for name in join.names}
    apart = {
        name: [leaf for leaf in leaves if leaf is not None]
        for name, leaves in about.items()
        if None not in leaves and len(leaves) <= MOST_LEAVES
    }
    if not apart:
        return None
    name = min(apart, key=lambda each: len(apart[each]))
    return [(_case(name, apart[name], held), rest) for held, rest in _cases(join, apart[name])]


def _about(tree: Tree, name: str) -> Iterator[Leaf | None]:
    """The leaves about one column; None for one that is about others too."""
    if isinstance(tree, Join):
        for each in tree.parts:
            yield from _about(each, name)
    elif name in tree.names:
        yield tree if len(tree.names) == 1 else None


def _cases(tree: Rest, leaves: Sequence[Leaf]) -> Iterator[tuple[tuple[bool, ...], Rest]]:
    """What remains of a tree if each of these leaves holds or not."""
    if not leaves:
        yield (), tree
        return
    for holds in (True, False):
        for held, rest in _cases(_decided(tree, leaves[0], holds=holds), leaves[1:]):
            yield (holds, *held), rest


def _decided(tree: Rest, leaf: Leaf, *, holds: bool) -> Rest:
    """A tree once it is known whether a leaf holds."""
    if not isinstance(tree, Join):
        return holds if tree == leaf else tree
    parts = [_decided(each, leaf, holds=holds) for each in tree.parts]
    decisive = tree.word == "or"  # what one part alone decides
    if any(each is decisive for each in parts):
        return decisive
    left = [each for each in parts if not isinstance(each, bool)]
    return joined(tree.word, left) if left else not decisive


def _case(name: str, leaves: Sequence[Leaf], held: Sequence[bool]) -> Leaf:
    conditions = [exp.Is(this=exp.paren(leaf.condition.copy()), expression=exp.true()) for leaf in leaves]
    return Leaf(
        exp.and_(*(each if holds else exp.not_(each) for each, holds in zip(conditions, held, strict=True))), (name,)
    )
