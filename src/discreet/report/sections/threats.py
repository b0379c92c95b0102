"""Attacks with their threat models, and how often each is right: beside guessers, with intervals."""

from __future__ import annotations

from discreet.audit.attacks.attack import Failed, Rate, Success
from discreet.report.charts import Lane, Mark, Shape, key, lanes
from discreet.report.facts import Facts
from discreet.report.markup import Html, joined, listed, marked, table, tag
from discreet.report.sections.figures import NEEDS_TRUTH, note, rate, share

GUESSERS: tuple[tuple[str, Shape, str], ...] = (
    ("blind", "diamond", "blind guess among what the release leaves open"),
    ("without", "triangle", "a model that never saw the release"),
    ("holdout", "square", "the same attack on people who were not in the table"),
    ("attacker", "dot", "attacker, with the interval at 95 %"),
)
MEANT = (
    "An attack is worth what it adds: compare it with the blind guess, which knows the release but learns nothing from"
    " it, and with the model that never saw the release. What it finds of people who were not in the table as well is"
    " what the release tells of everybody."
)
EASY = "Surest 1 % and 10 %: how often it is right of the people whom it is surest of. An attacker picks easy targets."


def threats(facts: Facts) -> Html:
    made = [each for each in facts.attacks if isinstance(each, Success)]
    failed = [each for each in facts.attacks if isinstance(each, Failed)]
    if not made:
        results = tag("p", "No attack was scored. That says nothing about the risk.")
        if facts.audience == "public" and facts.broken is None:
            results = tag("p", "How often attacks are right can only be told with the private table. ", NEEDS_TRUTH)
    else:
        results = joined([tag("p", MEANT), _truth(facts), _chart(made), _results(made), note(EASY), _notes(made)])
    return joined([results, tag("h3", "Threat models"), _models(facts), _failures(failed)])


def _truth(facts: Facts) -> Html:
    """How far the table that guesses are held against is the one that was published."""
    if (found := facts.belongs) is None:
        return Html("")
    if found.share == 1:
        return note(f"The private table accounts for all of the release, looked at by {found.looked_at}.")
    return note(
        f"The private table accounts for {found.share:.1%} of the release, looked at by {found.looked_at}. If it is"
        " another table, or has changed since, the figures of this section are too low."
    )


def _chart(made: list[Success]) -> Html:
    lines = [Lane(each.name, tuple(_marks(each))) for each in made]
    described = "; ".join(
        f"{each.name}: {share(each.attacker.share)}, blind {share(each.blind.share)}" for each in made
    )
    return joined(
        [
            lanes("How often attackers are right, beside guessers", described, lines),
            key([(shape, told) for name, shape, told in GUESSERS if any(_rate(each, name) for each in made)]),
        ]
    )


def _marks(attack: Success) -> list[Mark]:
    found = []
    for name, shape, _ in GUESSERS:
        rate_ = _rate(attack, name)
        if rate_ is not None:
            ends = (rate_.low, rate_.high) if name == "attacker" else (None, None)
            found.append(Mark(rate_.share, shape, *ends))
    return found


def _rate(attack: Success, name: str) -> Rate | None:
    found: Rate | None = getattr(attack, name)
    return found


def _results(made: list[Success]) -> Html:
    return table(
        "Share of people of whom the guess is right, and between what it lies at 95 %.",
        ["attack", "people", "attacker", "blind", "no release", "not in table", "surest 1\u00a0%", "surest 10\u00a0%"],
        [
            [
                each.name,
                f"{each.people:,}",
                *(rate(found) for found in (each.attacker, each.blind, each.without, each.holdout)),
                *(share(found.share if (found := each.at_recall.get(recall)) else None) for recall in (0.01, 0.1)),
            ]
            for each in made
        ],
    )


def _notes(made: list[Success]) -> Html:
    told = [joined([tag("b", each.name), ": ", marked(line)]) for each in made for line in each.notes]
    return listed(told, class_="note") if told else Html("")


def _models(facts: Facts) -> Html:
    return table(
        "Who attacks: what they know of people, what they want to find out, what they are given.",
        ["attack", "knows", "wants", "is given"],
        [
            [each.name, *(marked(told) for told in (each.threat.knows, each.threat.wants, each.threat.given))]
            for each in facts.attacks
        ],
        left=4,
    )


def _failures(failed: list[Failed]) -> Html:
    if not failed:
        return Html("")
    return joined(
        [
            tag("h3", "Attacks that were not made"),
            tag("p", "None of them says that the risk is low."),
            table(
                "Why each was not made.",
                ["attack", "", "why"],
                [[each.name, each.kind, marked(each.why)] for each in failed],
                left=3,
            ),
        ]
    )
