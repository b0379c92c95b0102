"""Risk figures by ARX's names: of the table before, of the release after, and of the groups at most risk."""

from __future__ import annotations

from discreet.report.charts import bars
from discreet.report.facts import Facts
from discreet.report.markup import Html, joined, listed, marked, table, tag
from discreet.report.sections.figures import NEEDS_TRUTH, note, number, share
from discreet.risk.risks import Risks
from discreet.risk.shown import by
from discreet.risk.sizes import THRESHOLDS

WHO = (
    "The prosecutor knows that a person is in the table, the journalist only that the person is in the population; the"
    " marketer wants as many as possible. Risk is the probability of naming the person of a record."
)
MEASURED = (
    ("k: records in the smallest class that looks the same", "k"),
    ("l: no value has more than 1 in l of a group", "l"),
    ("distinct l: values in the group that has fewest", "distinct_l"),
    ("entropy l", "entropy_l"),
    ("t: distance of a group from the table", "t"),
    ("beta: gain of a value over its share of the table", "beta"),
)


def risk(facts: Facts) -> Html:
    before, after = facts.before, facts.after
    if after is None:
        return tag("p", f"Not measured: {facts.broken or 'the release could not be read'}.")
    both = [("before", before), ("after", after)]
    known = [(when, found) for when, found in both if found is not None]
    missing = Html("") if before is not None else note("Before, the table as it was: ", NEEDS_TRUTH)
    return joined(
        [
            tag("p", WHO),
            missing,
            _chart(known),
            _figures(known),
            _threshold(facts, after),
            _values(known),
            _worst(after),
            listed((marked(each) for each in after.notes), class_="note"),
        ]
    )


def _chart(known: list[tuple[str, Risks]]) -> Html:
    rows = [
        *(
            (f"Records whose risk is above {limit:.0%}", [(when, of.prosecutor.at_risk[limit]) for when, of in known])
            for limit in THRESHOLDS
        ),
        ("Highest risk of a record", [(when, of.prosecutor.highest) for when, of in known]),
        ("Average risk of a record", [(when, of.prosecutor.average) for when, of in known]),
    ]
    described = "; ".join(f"{name}: {', '.join(f'{when} {share(x)}' for when, x in series)}" for name, series in rows)
    return bars("Prosecutor risk of re-identification", described, rows)


def _figures(known: list[tuple[str, Risks]]) -> Html:
    rows: list[list[str]] = []
    for when, found in known:
        models = {"prosecutor": found.prosecutor, "journalist": found.journalist}
        rows += [
            [
                f"{name}, {when}",
                *(share(each.at_risk[limit]) for limit in THRESHOLDS),
                share(each.highest),
                share(each.average),
            ]
            for name, each in models.items()
            if each is not None
        ]
        rows.append([f"marketer, {when}", *("–" for _ in THRESHOLDS), "–", share(found.marketer)])
    columns = ["attacker", *(f"above {limit:.0%}" for limit in THRESHOLDS), "highest", "average"]
    told = table("Share of records at risk, the highest risk of a record, and the average.", columns, rows)
    return joined([told, *(tag("p", *_uniques(when, found)) for when, found in known)])


def _uniques(when: str, found: Risks) -> list[str]:
    alone = f"{found.unique:,} of {found.records:,} records ({share(found.unique / max(found.records, 1))})"
    told = [f"{when.capitalize()}, {alone} look like no other."]
    of = found.population
    if of is not None:
        told.append(
            f" In the population of {of.people:,}, {of.count:,.0f} people are unique, {by(of)};"
            f" {share(of.of_records)} of the records are theirs."
        )
    return told


def _threshold(facts: Facts, after: Risks) -> Html:
    """The highest risk beside the threshold that was asked for."""
    high = after.prosecutor.highest
    above = high > facts.threshold
    return tag(
        "p",
        f"The highest prosecutor risk of a released record is {share(high)}, ",
        tag("strong", "above" if above else "not above", class_="bad" if above else "good"),
        f" the threshold of {share(facts.threshold)}.",
    )


def _values(known: list[tuple[str, Risks]]) -> Html:
    rows = [
        [told, *(number(getattr(found, name)) for _, found in known)]
        for told, name in MEASURED
        if any(getattr(found, name) is not None for _, found in known)
    ]
    return joined(
        [
            tag("h3", "What was measured"),
            table("As measured, whatever is promised.", ["", *(when for when, _ in known)], rows),
        ]
    )


def _worst(after: Risks) -> Html:
    if not after.worst:
        return Html("")
    return joined(
        [
            tag("h3", "The groups at most risk"),
            table(
                "By their number in the release: those where one value has the largest share, then the smallest.",
                ["group", "records", "largest share of one value"],
                [[f"{each.number:,}", f"{each.records:,}", share(each.largest_share)] for each in after.worst],
            ),
        ]
    )
