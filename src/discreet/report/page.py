"""A page that is whole by itself: no script, no font and no picture from elsewhere; and the memo of one page."""

from __future__ import annotations

from importlib.resources import files

from discreet.report.facts import Facts
from discreet.report.markup import Html, joined, name, tag
from discreet.report.sections import SECTIONS
from discreet.report.sections.governance import signature
from discreet.report.sections.questions import questions
from discreet.report.sections.summary import alerts, summary

POLICY = "default-src 'none'; style-src 'unsafe-inline'"  # a browser that heeds it loads nothing, whatever is in here
AUDIENCES = {
    "public": ("Public", "from the released files alone: it may be handed out"),
    "private": ("Private: not to be handed out", "with figures of the private table, for its steward"),
}
BROKEN = ("Not to be handed out", "from the files of a release that does not verify, for its steward")
LONGEST = {"report": 200, "memo": 100}  # signs of a title, which may take no more than its part of the one page


def report_page(facts: Facts) -> str:
    """The whole report."""
    contents = tag(
        "nav",
        tag("ul", *(tag("li", tag("a", each.heading, href=f"#{each.name}")) for each in SECTIONS), class_="contents"),
        aria_label="Contents",
    )
    sections = [tag("section", tag("h2", each.heading), each.show(facts), id=each.name) for each in SECTIONS]
    return _page(f"Report on {facts.published.title}", facts, [contents, *sections])


def memo_page(facts: Facts) -> str:
    """The same in one page."""
    more = tag("p", "The report has the figures, what was not tested, and how to find both again.", class_="note")
    asked = [tag("h2", "Singling out, linkability, inference"), questions(facts), more, signature()]
    return _page(f"Memo on {facts.published.title}", facts, asked, kind="memo")


def _page(heading: str, facts: Facts, inside: list[Html], *, kind: str = "report") -> str:
    public, most = facts.audience == "public", LONGEST[kind]
    short, long = BROKEN if public and not facts.verified else AUDIENCES[facts.audience]
    title = name(_cut(facts.published.title, most))
    running = tag(
        "header",
        tag("div", tag("div", tag("strong", short), ", ", long, " · ", title, class_="line")),
        class_="running",
    )
    lead = (
        f"{facts.published.rows:,} rows by {facts.published.publication}, {facts.published.told}. Made on {facts.made}."
    )
    main = tag(
        "main",
        tag("h1", _cut(heading, most)),
        tag("p", lead, class_="lead"),
        alerts(facts),
        tag("h2", "In short"),
        summary(facts),
        *inside,
        class_=kind,
    )
    head = joined(
        [
            tag("meta", charset="utf-8"),
            tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
            tag("meta", http_equiv="Content-Security-Policy", content=POLICY),
            tag("meta", name="robots", content="noindex"),
            tag("title", heading[:200]),
            tag("style", Html(files("discreet.report").joinpath("style.css").read_text(encoding="utf-8"))),
        ]
    )
    body = tag(
        "body", tag("div", running, main, class_="sheet"), class_="public" if public and facts.verified else "private"
    )
    return f'<!DOCTYPE html>\n<html lang="en">{tag("head", head)}{body}</html>\n'


def _cut(title: str, most: int) -> str:
    return title if len(title) <= most else f"{title[:most]}…"
