"""The promise in one sentence, what follows from it, what does not, and the independent check of the files."""

from __future__ import annotations

from discreet.report.facts import Facts
from discreet.report.markup import Html, joined, listed, marked, table, tag

CHECKED = (
    "`discreet verify` reads the files of the release and nothing else. It shares no code with what made them, and"
    " anyone who holds the release can run it."
)


def promise(facts: Facts) -> Html:
    published = facts.published
    follows = [] if published.theorem is None else [tag("p", published.theorem)]
    failed = sum(not check.ok for check in facts.checks)
    state = f"All {len(facts.checks)} checks pass." if not failed else f"{failed} of {len(facts.checks)} checks FAILED."
    checks = table(
        state,
        ["check", "result", "what was found"],
        [[check.name, _result(ok=check.ok), marked(check.detail)] for check in facts.checks],
        left=3,
    )
    return joined(
        [
            tag("p", published.promise, class_="promise"),
            *follows,
            tag("h3", "Not promised"),
            listed(marked(each) for each in published.limits),
            tag("h3", "The independent check"),
            tag("p", marked(CHECKED)),
            checks,
        ]
    )


def _result(*, ok: bool) -> Html:
    return tag("span", "passes", class_="good") if ok else tag("strong", "FAILED", class_="bad")
