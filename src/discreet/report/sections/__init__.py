"""The sections of a report, in the order of ISO/IEC 27559: context, data, identifiability, governance.

Each is a function from the facts to HTML. What the facts for the public do not hold, no section can show.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from discreet.report.facts import Facts
from discreet.report.markup import Html
from discreet.report.sections.context import context
from discreet.report.sections.data import data
from discreet.report.sections.governance import governance
from discreet.report.sections.promise import promise
from discreet.report.sections.questions import questions
from discreet.report.sections.risk import risk
from discreet.report.sections.threats import threats
from discreet.report.sections.untested import untested
from discreet.report.sections.utility import utility


class Section(NamedTuple):
    """A section: the name of its place on the page, its heading, and what it shows."""

    name: str
    heading: str
    show: Callable[[Facts], Html]


SECTIONS = (
    Section("context", "1. Context: what is published, about whom, for whom", context),
    Section("data", "2. Data: what the files hold", data),
    Section("promise", "3. Identifiability: the promise and its check", promise),
    Section("threats", "4. Identifiability: threats, and attacks that were tried", threats),
    Section("risk", "5. Identifiability: risk before and after", risk),
    Section("utility", "6. What the release is good for", utility),
    Section("questions", "7. Singling out, linkability, inference", questions),
    Section("untested", "8. What was not tested", untested),
    Section("governance", "9. Governance: versions, digests, signature", governance),
)
