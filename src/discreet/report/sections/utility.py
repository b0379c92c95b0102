"""How near the answers of the release come to those of the table, by each estimator, and at other thresholds."""

from __future__ import annotations

from discreet.report.charts import lines
from discreet.report.facts import Facts, Swept, Utility
from discreet.report.markup import Html, joined, listed, marked, table, tag
from discreet.report.sections.figures import NEEDS_TRUTH, note, share

MEANT = (
    "Errors are relative to the truth, or to ten people where fewer are counted, and are of answers that are not exact."
    " Coverage is the share of truths within two standard errors: about 95 % if these mean what they say. Where it is"
    " much lower, only the bounds are to be trusted."
)


def utility(facts: Facts) -> Html:
    if facts.utility is None:
        why = NEEDS_TRUTH if facts.audience == "public" else "It takes the private table, which was not given."
        return tag("p", "How far answers are off can only be told with the private table. ", why)
    found = facts.utility
    kinds = ", ".join(f"{many:,} {kind}" for kind, many in found.kinds.items())
    asked = f"{found.queries:,} random questions about the sensitive column were asked of table and release ({kinds})."
    return joined([tag("p", asked), _results(found), note(MEANT), *_remarks(found), _swept(facts.swept)])


def _results(found: Utility) -> Html:
    return table(
        "Error and coverage of the answers, by estimator.",
        ["estimator", "answered", "exact", "median error", "90 % of errors below", "coverage", "width of bounds"],
        [
            [
                each.estimator,
                f"{each.answered:,}",
                f"{each.exact:,}",
                *(share(figure) for figure in (each.error, each.error_90, each.coverage, each.width)),
            ]
            for each in found.estimators
        ],
    )


def _remarks(found: Utility) -> list[Html]:
    """What the figures do not say."""
    told = [
        f"`{each.estimator}` did not answer some questions: {each.unanswered}"
        for each in found.estimators
        if each.unanswered
    ]
    outside = max((each.outside for each in found.estimators), default=0)
    told.append(f"Truths outside the bounds: {outside:,}." if outside else "Every truth lies within its bounds.")
    return [listed(map(marked, told))]


def _swept(swept: Swept | None) -> Html:
    if swept is None:
        return Html("")
    methods = list(dict.fromkeys(each.method for each in swept.steps))
    series = [
        (
            method,
            [(each.threshold, each.error) for each in swept.steps if each.method == method and each.error is not None],
        )
        for method in methods
    ]
    drawn = [(method, points) for method, points in series if points]
    described = "; ".join(
        f"{method}: {', '.join(f'{swept.name} = {x:g} {share(y)}' for x, y in points)}" for method, points in drawn
    )
    chart = lines(f"Median error against {swept.name}", described, drawn, f"{swept.name} that is promised")
    told = table(
        f"Errors at other thresholds, of {swept.rows:,} rows published anew by each method and deleted.",
        ["method", swept.name, "median error", "90 % of errors below", "coverage"],
        [
            [each.method, f"{each.threshold:,g}", *(share(x) for x in (each.error, each.error_90, each.coverage))]
            for each in swept.steps
        ],
    )
    why = [
        f"`{each.method}` with {swept.name} = {each.threshold:,g} was refused: `discreet compare FILE --policy POLICY"
        f" --methods {each.method} --sweep {swept.name}={each.threshold:g}` says why"
        for each in swept.steps
        if each.refused
    ]
    refused = listed(map(marked, why), class_="note") if why else Html("")
    return joined([tag("h3", f"Error against {swept.name}"), chart if drawn else Html(""), told, refused])
