"""Versions, digests, what to ask before signing, and the line to sign."""

from __future__ import annotations

from discreet.report.facts import Facts
from discreet.report.markup import Html, joined, listed, name, table, tag

ASK = (
    "Is it public or harmless who is in the table, and each quasi-identifier?",
    "Do different sensitive values mean different things?",
    "Has anything about the same people been published before?",
    "Is there a contract with whoever gets the release, that forbids to look for people in it?",
    "Who looks at this report again, and when?",
)


def governance(facts: Facts) -> Html:
    files = table(
        "The files that this report is about, by their digests (SHA-256).",
        ["file", "digest"],
        [
            [name(each.path), tag("span", each.digest.removeprefix("sha256:"), class_="digest")]
            for each in facts.published.files
        ],
        left=2,
    )
    versions = ", ".join(f"{what} {version}" for what, version in facts.versions.items())
    made = tag("p", f"Made on {facts.made} with {versions}.")
    return joined([files, made, tag("h3", "Before you sign"), listed(ASK), signature()])


def signature() -> Html:
    return tag("div", *(tag("div", each) for each in ("Name and office", "Signature", "Date")), class_="sign")
