"""The report in a few lines: whether the release verifies, comes first."""

from __future__ import annotations

from math import inf

from discreet.audit.attacks.attack import Failed, Success
from discreet.report.facts import Facts
from discreet.report.markup import Html, joined, marked, tag
from discreet.report.sections.figures import share
from discreet.report.sections.questions import VERDICTS

LONGEST = 400  # signs


def alerts(facts: Facts) -> Html:
    """What must be read before anything else, if there is something."""
    found = []
    if not facts.verified:
        failed = next(check for check in facts.checks if not check.ok)
        found.append(
            tag(
                "div",
                tag("strong", "This release does not verify: do not sign, and do not hand it out. "),
                marked(f"{failed.name}: {_shortened(failed.detail)}. Nothing was measured."),
                class_="alert",
                role="alert",
            )
        )
    if not facts.published.for_publication:
        found.append(
            tag(
                "div",
                tag("strong", "Not for publication. "),
                "The release was made with a fixed seed, for tests: whoever knows the seed can make its groups again.",
                class_="alert",
            )
        )
    return joined(found)


def summary(facts: Facts) -> Html:
    """The lines that a memo and a report begin with."""
    return tag("dl", *(joined([tag("dt", key), tag("dd", value)]) for key, value in _lines(facts)), class_="facts")


def worst(facts: Facts) -> Success | None:
    """The attack that gains most over a blind guess, of those that were scored."""
    made = [each for each in facts.attacks if isinstance(each, Success)]
    return max(made, key=lambda each: each.attacker.share - each.blind.share, default=None)


def _lines(facts: Facts) -> list[tuple[str, object]]:
    checks = len(facts.checks)
    failed = sum(not check.ok for check in facts.checks)
    state = f"{failed} of {checks} checks failed" if failed else f"verified: {checks} of {checks} checks pass"
    found: list[tuple[str, object]] = [
        ("The files", tag("strong", state, class_="bad" if failed else "good")),
        ("The promise", _shortened(facts.published.promise)),
        *((each.question.capitalize(), f"{VERDICTS[each.verdict]}.") for each in facts.answers),
    ]
    if (best := worst(facts)) is not None:
        found.append(("Best attack", _attacked(best)))
    if facts.after is not None:
        high = facts.after.prosecutor.highest
        side = "above" if high > facts.threshold else "not above"
        limit = f"{side} the threshold of {share(facts.threshold)}"
        found.append(("Highest risk", f"{share(high)} to name the person of a record: {limit}"))
    if facts.utility is not None and facts.utility.estimators:
        own = min(facts.utility.estimators, key=lambda each: inf if each.error is None else each.error)
        within = f"{share(own.coverage)} of truths within two standard errors"
        found.append(("Answers", marked(f"median error {share(own.error)} by `{own.estimator}`, {within}")))
    failures = sum(isinstance(each, Failed) for each in facts.attacks)
    found.append(("Not tested", f"{failures:,} of {len(facts.attacks):,} attacks were not made; section 8 says why"))
    return found


def _shortened(told: str) -> str:
    """A sentence that may list what came from outside, so short that a memo stays one page; the report has it all."""
    return told if len(told) <= LONGEST else f"{told[:LONGEST]}…"


def _attacked(attack: Success) -> Html:
    found, blind = attack.attacker, attack.blind
    interval = f"{share(found.low)} to {share(found.high)}"
    right = f"`{attack.name}` is right of {share(found.share)} of people ({interval})"
    return marked(f"{right}, a blind guess of {share(blind.share)}")
