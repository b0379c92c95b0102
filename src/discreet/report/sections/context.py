"""What is published, about whom, and who gets it."""

from __future__ import annotations

from discreet.report.facts import Facts
from discreet.report.markup import LONGEST, Html, joined, marked, name, tag

NO_RECIPIENT = "not said: the report assumes that anybody may get the release (`--recipient` names who does)"


def context(facts: Facts) -> Html:
    published = facts.published
    sensitive = [column.name for column in published.columns if column.role == "sensitive"]
    rows = f"{published.rows:,} rows"
    whom = f"{rows}, each a person" if published.people is None else f"{rows} of {published.people:,} people"
    told: list[tuple[str, object]] = [
        ("Table", name(published.table)),
        ("Described as", _described(published.description)),
        ("About", whom),
        ("Outsiders may know", _names([each.name for each in published.columns if each.role != "sensitive"])),
        ("To be protected", _names(sensitive) if sensitive else "which values belong to one person"),
        ("Published by", marked(f"`{published.publication}`, grouped by `{published.partition}`")),
        ("Given to", marked(NO_RECIPIENT) if facts.recipient is None else name(facts.recipient)),
    ]
    if published.publishers:
        told.append(("Publisher", _names(published.publishers)))
    if published.created:
        told.append(("Made", name(published.created)))
    if published.licence:
        told.append(("Licence", name(published.licence)))
    return tag("dl", *(joined([tag("dt", key), tag("dd", value)]) for key, value in told), class_="facts")


def _names(names: list[str] | tuple[str, ...]) -> Html:
    return joined(piece for number, each in enumerate(names) for piece in ((", " if number else ""), name(each)))


def _described(text: str) -> Html:
    """A description, which may have names in backticks; shortened if it is very long."""
    return tag("bdi", marked(text if len(text) <= LONGEST else f"{text[:LONGEST]}…"), class_="name")
