"""A profile as people read it: tables and sentences, the same on the terminal and in a notebook."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from discreet.risk.shown import Shown, attackers
from discreet.visible import in_a_line

if TYPE_CHECKING:
    from discreet.table.profile import Profile, SensitiveProfile


@dataclass(frozen=True, slots=True)
class Grid:
    """A table of texts; its first `left` columns are flush left."""

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    left: int = 1


def summary(profile: Profile) -> Iterator[str | Grid]:
    """All that a profile says, in order: lines, and tables."""
    people = "" if profile.people is None else f" of {profile.people:,} people"
    yield f"{in_a_line(profile.name)}: {profile.rows:,} rows{people}, {len(profile.columns)} columns"
    yield ""
    yield Grid(
        ["column", "kind", "different", "missing", "seen once", "may be"],
        [
            [each.name, each.kind, f"{each.distinct:,}", f"{each.missing:,}", f"{each.unique:,}", each.suggestion]
            for each in profile.columns
        ],
        left=2,
    )
    yield "  different: how many values it has; seen once: rows whose value no other row has"
    for note in profile.notes:
        yield f"\n{note}"
    yield from _roles(profile)
    if about := profile.quasi:
        of, who, rows = (profile.rows, "rows", "row") if profile.people is None else (profile.people, "people", "rows")
        share = about.unique / of if of else 0
        yield f"\nIf an outsider knows {', '.join(map(in_a_line, about.quasi))} of a person:"
        yield f"  {about.unique:,} {who} ({share:.1%}) have values that no other has: their {rows} can be found"
        yield f"  {about.below_5:,} {who} have fewer than four others like them"
        found = f"whoever picks one of the {who} that fit picks the right one in {about.risk:.1%} of cases"
        yield f"  {about.combinations:,} different combinations of values: {found}"
        yield from _risks(profile)
    if value := profile.sensitive:
        top = f"the most frequent one in {value.top_share:.1%} of the rows"
        yield f"\n{in_a_line(value.sensitive)}: {value.distinct:,} different values, {top}"
        if profile.people is None:
            l = value.largest_l
            yield f"  the largest l that can be promised is {l}: no value is then held by more than 1 in {l} people"
        else:
            yield f"  all people together keep l = {value.largest_l}; groups of those with few rows may keep more"
        yield from _possible(value)
        yield from _tells(profile, value.sensitive)


def _tells(profile: Profile, sensitive: str) -> Iterator[str | Grid]:
    """What quasi-identifiers tell of the sensitive value, beside a blind guess."""
    if not profile.tells:
        return
    yield f"\nPeople whose {in_a_line(sensitive)} is nearly certain to anyone who knows these columns:\n"
    yield Grid(
        ["known", "people", "share", "right", "blind guess", "too few alike"],
        [
            [
                " and ".join(telling.columns),
                f"{telling.told:,}",
                f"{telling.told / telling.rows:.1%}",
                f"{telling.certainty:.1%}" if telling.told else "–",
                f"{telling.blind:.1%}",
                f"{telling.rows - telling.judged:,}",
            ]
            for telling in profile.tells
        ],
    )
    yield "  right: how often a guess by the columns is right"
    yield "  blind guess: how often it is right to say that everybody has the most frequent value"
    yield "  too few alike: people who cannot be judged, because too few others are like them"
    drawn = max(telling.rows for telling in profile.tells)
    if any(telling.sampled for telling in profile.tells):
        yield f"  measured on {drawn:,} rows drawn at random, and two or three columns together on fewer"


def _roles(profile: Profile) -> Iterator[str | Grid]:
    """Why a column may have a role: a line each where its name or its values say something, one for all others."""
    said = [each for each in profile.columns if each.why and each.suggested != "quasi"]
    others = [each for each in profile.columns if each.why and each.suggested == "quasi"]
    if not said and not others:
        return
    yield "\nRoles that columns may have, for you to decide:\n"
    if said:
        yield Grid(["column", "role", "because"], [[each.name, each.suggested, each.why] for each in said], left=3)
    for why in dict.fromkeys(each.why for each in others):
        yield f"  quasi ({', '.join(in_a_line(each.name) for each in others if each.why == why)}): {why}"
    yield "  identifiers: never published; quasi: published as it is; sensitive: published, but tied to nobody"


def _risks(profile: Profile) -> Iterator[str | Grid]:
    """Risks by ARX's names, and the columns that single people out most."""
    if (risks := profile.risks) is None:
        return
    yield "\nThe share of rows that an attacker finds with a chance above each limit:\n"
    for part in attackers(risks):
        yield Grid(part.columns, part.rows) if isinstance(part, Shown) else part
    yield "  prosecutor: knows that a person is in the table, and looks for the row"
    yield "  marketer: wants to find as many people as possible, whoever they are"
    yield "  measured: the guarantees that rows with the same values keep today; the page on policies explains them"
    if profile.combinations:
        yield "\nColumns that make most rows look like no other, alone and in twos and threes:\n"
        yield Grid(
            ["known", "look like no other", "average risk"],
            [
                [" and ".join(each.columns), f"{each.unique:.1%}", f"{each.average:.1%}"]
                for each in profile.combinations
            ],
        )
        if profile.combinations[0].sampled:
            yield "  measured on rows drawn at random: in the whole table fewer look like no other"


def _possible(value: SensitiveProfile) -> Iterator[str | Grid]:
    """What each guarantee would cost."""
    if value.possible:
        yield f"\nWhat a guarantee on {in_a_line(value.sensitive)} would cost:\n"
        yield Grid(
            ["promise", "rows to leave out", "a blind guess is right", "low and high of a count"],
            [
                [
                    f"l = {each.l}",
                    "impossible" if each.left_out is None else f"{each.left_out:.1%}",
                    f"{each.guess:.1%}",
                    f"{each.width:.1f} times the count",
                ]
                for each in value.possible
            ],
        )
        yield "  rows to leave out: because their value is too frequent"
        yield "  a blind guess: how often, at most, it is right to name the most frequent value of a person's group"
        yield "  low and high: how far apart they are when people with one value are counted in a tenth of the table"
    if value.ranges:
        yield ""
        yield Grid(
            ["promise", "average range of a group"],
            [
                [f"k = {each.k}, e = {each.e:,g}", "impossible" if each.average is None else f"{each.average:,.6g}"]
                for each in value.ranges
            ],
        )
        yield "  k: at least k different values in a group; e: the largest is at least e above the smallest"
