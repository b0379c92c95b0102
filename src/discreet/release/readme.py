"""The README of a release: how to use it with nothing but a database, written from the manifest alone."""

from __future__ import annotations

from discreet.release.layouts import layout_of, plausible
from discreet.release.layouts.file import quoted
from discreet.release.manifest import Manifest
from discreet.visible import in_markdown

NAME = "README.md"


def readme(manifest: Manifest) -> str:
    """The text; the same manifest always gives the same text."""
    promise = manifest.discreet
    warning = "" if promise.for_publication else "\n**Made with a fixed seed, for tests only: do not publish.**\n"
    if promise.suppression:
        warning += (
            f"\nUp to {promise.suppression:.3%} of the rows of the table were left out; all this is about the others.\n"
        )
    if promise.growth == "insert":
        warning += (
            "\nIts groups take in people who came later. What is promised of it together with earlier releases holds"
            " against readers\nwho know of some people when they came; not against one who knows everybody in a group"
            " and when each came.\n"
        )
    if promise.harmless:
        warning += (
            f"\nWhoever holds {in_markdown(promise.spared)} is taken to need no protection: the promise is about those"
            " who do not.\nWhether somebody holds such a value may be learnt from this release.\n"
        )
    if promise.largest_share is not None:
        warning += f"\nThe largest share of one value: {in_markdown(promise.told_share())}.\n"
    return f"""# {in_markdown(promise.table)}
{warning}
{_inert(layout_of(promise).readme(manifest), manifest)}{_inert(plausible.readme(manifest), manifest)}
`discreet ask` adds bounds that contain the truth, and standard errors where there are any; `discreet
verify` checks from these files what they promise.
"""


def _inert(text: str, manifest: Manifest) -> str:
    """The text of a layout, in which names and values are no markup; in SQL, between fences, they stay as they are."""
    names = {quoted(name) for resource in manifest.resources for name in resource.table.names()}
    names |= {quoted(name) for name in manifest.discreet.columns} | {f"(harmless: {manifest.discreet.spared})"}
    inert = {name: in_markdown(name) for name in sorted(names, key=len, reverse=True) if in_markdown(name) != name}
    lines, sql = [], False
    for line in text.split("\n"):
        sql ^= line.startswith("```")  # no name ends a line, so none begins one
        for name in inert if not sql else ():
            line = line.replace(name, inert[name])  # noqa: PLW2901
        lines.append(line)
    return "\n".join(lines)
