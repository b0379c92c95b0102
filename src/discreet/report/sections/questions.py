"""The three questions of the Article 29 working party, answered plainly."""

from __future__ import annotations

from discreet.report.facts import Facts
from discreet.report.markup import Html, joined, marked, tag

SOURCE = (
    "Opinion 05/2014 of the Article 29 data protection working party (WP216) asks three questions of data that are said"
    " to tell nothing of a person. Where one is answered with yes, these are personal data, and are to be handed out as"
    " such."
)
VERDICTS = {"yes": "Yes", "limited": "Within limits, not ruled out", "not measured": "Not measured"}


def questions(facts: Facts) -> Html:
    answers = [
        tag(
            "div",
            tag("h4", each.asked),
            tag("p", tag("span", f"{VERDICTS[each.verdict]}.", class_="verdict"), " ", *_sentences(each.because)),
            class_="answer",
        )
        for each in facts.answers
    ]
    return joined([tag("p", SOURCE), *answers])


def _sentences(because: tuple[str, ...]) -> list[Html]:
    return [joined([" " if number else "", marked(each)]) for number, each in enumerate(because)]
