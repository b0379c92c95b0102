"""Figures as people read them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.report.markup import Html, tag, text

if TYPE_CHECKING:
    from discreet.audit.attacks.attack import Rate

NEEDS_TRUTH = "This takes the private table, and is not in a report that may be handed out."


def share(value: float | None) -> str:
    """A share in per cent; small ones keep two digits."""
    if value is None:
        return "–"
    return f"{value:.1%}" if value >= 0.001 or value == 0 else f"{100 * value:.2g}%"


def rate(found: Rate | None) -> Html:
    """A share, and below it between what it lies."""
    if found is None:
        return text("–")
    between = tag("span", f"{share(found.low)} to {share(found.high)}", class_="between")
    return tag("span", share(found.share), " ", between)


def number(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:,.0f}" if float(value).is_integer() or abs(value) >= 1000 else f"{value:,.3g}"


def note(*sentences: object) -> Html:
    return tag("p", *sentences, class_="note")
