"""The three questions of WP216, answered from what was measured.

Whether the answer is yes depends on what a release shows, not on how it is called: quasi-identifiers that are shown as
they are single people out, whatever is promised of the sensitive value.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from discreet.audit.attacks.attack import Failed, Success
from discreet.report.facts import Answer, Published
from discreet.risk.risks import Risks

SINGLING, LINKING, INFERRING = (
    "Can a person be singled out?",
    "Can records of one person be linked?",
    "Can a person's sensitive value be inferred?",
)
APART = (
    "No row is shown whole, but each block of columns is shown as it is: a value that is unique by itself shows that"
    " somebody has it, and in which group."
)
FITTING = "A box that fits one person of those whom an outsider knows may still single that person out."
COMPARED = "Boxes can be compared with any other table that has these columns: several records may fit each person."
INTERSECTED = "Two releases about the same people can be intersected; `discreet audit R1 R2` counts what that tells."
OPEN = "Who learns from the release how values go with quasi-identifiers, or knows more, is not held to that."
LINKAGE = ("linkage", "presence")  # attacks that find a person's record, or that there is one
BLURRED = ("downcoding",)  # that find out what a box hides
NEAR = ("proximity",)  # that are right of a value near the person's: no share of one value bounds them


def answers(
    published: Published, after: Risks | None, attacks: Sequence[Success | Failed], *, broken: str | None
) -> tuple[Answer, ...]:
    """All three, in the order of the opinion."""
    if broken is not None or after is None:
        why = (f"Nothing was measured: {broken or 'the release could not be read'}.",)
        return (
            Answer("singling out", SINGLING, "not measured", why),
            Answer("linkability", LINKING, "not measured", why),
            Answer("inference", INFERRING, "not measured", why),
        )
    return (_singling(published, after, attacks), _linking(published, attacks), _inferring(published, after, attacks))


def _singling(published: Published, after: Risks, attacks: Sequence[Success | Failed]) -> Answer:
    alone = f"{after.unique:,} of {after.records:,} records ({after.unique / max(after.records, 1):.1%})"
    if published.shape == "rows":
        because = (
            "Quasi-identifiers are published as they are.",
            f"By them, {alone} are like no other: whoever knows these of a person finds the person's row.",
            "The release does not prevent it, and does not mean to: it limits what is learnt of the sensitive value.",
        )
        return Answer("singling out", SINGLING, "yes", because)
    if published.shape == "blocks":
        return Answer("singling out", SINGLING, "yes", (APART,))
    found = _attacked([each for each in attacks if each.name in BLURRED])
    boxed = f"Rows are shown as boxes, and at least {after.k:,} look the same by them; {alone} are alone."
    return Answer("singling out", SINGLING, "yes" if after.unique else "limited", (boxed, FITTING, *found))


def _linking(published: Published, attacks: Sequence[Success | Failed]) -> Answer:
    told = list(_attacked([each for each in attacks if each.name in LINKAGE]))
    if published.shape == "boxes":
        return Answer("linkability", LINKING, "limited", (COMPARED, *told))
    shown = "rows" if published.shape == "rows" else "blocks of columns"
    joined = f"The {shown} can be joined with any other table that has these columns, another release among them."
    return Answer("linkability", LINKING, "yes", (joined, INTERSECTED, *told))


def _inferring(published: Published, after: Risks, attacks: Sequence[Success | Failed]) -> Answer:
    if after.l is None:
        because = ("No column is named as sensitive: values of one column may be the same throughout a group.",)
        return Answer("inference", INFERRING, "yes", because)
    top = max((each.largest_share for each in after.worst if each.largest_share is not None), default=None)
    bound = [] if top is None else [f"Inside a group no value has more than {top:.1%} of the people."]
    if published.theorem is not None:
        bound.append(published.theorem)
    bound.append(OPEN)
    scored = [each for each in attacks if isinstance(each, Success) and each.name not in (*LINKAGE, *BLURRED, *NEAR)]
    best = max(scored, key=lambda each: each.attacker.share - each.blind.share, default=None)
    if best is None:
        told = ["How often such guesses are right was not scored in this report."]
    else:
        told = list(_attacked([best]))
    beaten = top is not None and best is not None and best.attacker.low > top
    if beaten:
        told.append("That is more often than the largest share of a group: the bound does not hold against it.")
    certain = top is not None and top >= 1
    return Answer("inference", INFERRING, "yes" if certain or beaten else "limited", (*bound, *told))


def _attacked(attacks: Sequence[Success | Failed]) -> Iterator[str]:
    for each in attacks:
        if isinstance(each, Success):
            found = each.attacker
            right = f"`{each.name}` is right of {found.share:.1%} ({found.low:.1%} to {found.high:.1%})"
            yield f"The attack {right}, a blind guess of {each.blind.share:.1%}."
