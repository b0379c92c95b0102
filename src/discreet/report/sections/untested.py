"""What was not tested: every attack that was not made, and what nobody gave to test with."""

from __future__ import annotations

from discreet.report.facts import Facts
from discreet.report.markup import Html, joined, marked, table, tag


def untested(facts: Facts) -> Html:
    return joined(
        [
            tag("p", "What is listed here may be a risk. Nothing in this report says that it is low."),
            table(
                "Not tested, and why.",
                ["what", "why"],
                [[marked(e.what), marked(e.why)] for e in facts.untested],
                left=2,
            ),
        ]
    )
