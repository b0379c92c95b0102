"""The promise of a release in one sentence, and what follows from it, from the manifest alone."""

from __future__ import annotations

from collections.abc import Iterator

from discreet.release.layouts import layout_of
from discreet.release.manifest import Promise
from discreet.report.facts import Shape

SHAPES: dict[str, Shape] = {"counted": "rows", "swapped": "rows", "margins": "blocks", "boxes": "boxes"}
SENTENCES = {
    "l": "no sensitive value is held by more than 1 in {} people",
    "distinct_l": "there are at least {} different sensitive values",
    "k": "there are at least {} people",
    "beta": "no sensitive value is more than 1 + {} times as frequent as in the whole table",
    "enhanced_beta": "no sensitive value is more than 1 + {} times as frequent as in the whole table, and one of share"
    " p at most 1 − ln p times",
}
RANGE = "there are at least {} different sensitive values, the smallest and the largest at least {} apart"


def shape(promise: Promise) -> Shape:
    """How quasi-identifiers are shown: as whole rows, block by block, or as boxes."""
    found = SHAPES[layout_of(promise).matching]
    whole = found == "blocks" and len(layout_of(promise).blocks(promise)) == 1
    return "rows" if whole else found


def sentence(promise: Promise) -> str:
    """What is promised, in one sentence."""
    guarantee = promise.guarantee
    if not layout_of(promise).promises or not guarantee:
        return "Nothing is promised: this publication is a baseline to compare with."
    told = [_worded(name, guarantee) for name in guarantee if not (name == "e" and "k" in guarantee)]
    spared = f" of those who do not hold {promise.spared}" if promise.harmless else ""
    return f"In every group{spared}, {'; and '.join(told)}."


def theorem(promise: Promise) -> str | None:
    """What follows for a person, and under which condition, if anything does."""
    guarantee = promise.guarantee
    knows = "Someone who knows a person's quasi-identifiers, and that the person is in the table,"
    if "l" in guarantee:
        return (
            f"{knows} and who has no other knowledge that makes one member of a group a likelier holder of a value"
            f" than another, names the person's value correctly with a probability of at most 1/{guarantee['l']}"
            f" ({1 / guarantee['l']:.1%})."
        )
    if "e" in guarantee:
        return (
            f"{knows} cannot narrow the person's value down to fewer than {guarantee['k']} values or to a range of less"
            f" than {guarantee['e']:,}. That is about what is possible, not about what is likely."
        )
    return None


def limits(promise: Promise) -> Iterator[str]:
    """What is not promised, as far as the manifest tells."""
    if shape(promise) == "rows":
        yield "That quasi-identifiers are blurred: they are published as they are, and a unique row stays unique."
        yield "That it is hidden who is in the table: every row is a real person's."
    if shape(promise) == "blocks":
        yield "That quasi-identifiers are blurred: each block of columns is published as it is."
    if shape(promise) == "boxes":
        yield "That it is hidden who is in the table, where somebody is known to be the only one whom a box fits."
    yield "That someone who learns from the release, or knows more than the quasi-identifiers, is held to the bound."
    yield "That several releases about the same people keep the promise together."
    if promise.sensitive is not None:
        yield f"That any other column than `{promise.sensitive}` is protected."


def _worded(name: str, guarantee: dict[str, int | float]) -> str:
    if name == "k" and "e" in guarantee:
        return RANGE.format(guarantee["k"], f"{guarantee['e']:,}")
    return SENTENCES[name].format(guarantee[name])
