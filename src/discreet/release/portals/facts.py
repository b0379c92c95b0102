"""What all portals want to know of a release, in plain sentences: from the manifest alone."""

from __future__ import annotations

from collections.abc import Iterator

from discreet.release.layouts import layout_of
from discreet.release.manifest import Manifest
from discreet.words import counted

MEDIA = {"csv": "text/csv", "parquet": "application/vnd.apache.parquet"}
FIRST = "1.0.0"  # a release never changes, so there is no second version of it


def title(manifest: Manifest) -> str:
    return manifest.title or manifest.discreet.table


def description(manifest: Manifest) -> str:
    """What whoever published it says; else what the manifest does."""
    if manifest.description:
        return manifest.description
    promise = manifest.discreet
    return (
        f"{promise.table}: {promise.about}, published by `{promise.publication}` with the guarantee {promise.told()}."
    )


def protocol(manifest: Manifest) -> str:
    """How the table was changed before it was published."""
    promise = manifest.discreet
    groups = f" in {counted(promise.groups, 'group')} by `{promise.partition}`" if layout_of(promise).promises else ""
    what = f"Published by `{promise.publication}`: {promise.about}{groups}. Guarantee: {promise.told()}."
    return f"{what} The README says what the files hold; `discreet verify` checks from them what is promised."


def personal(manifest: Manifest) -> Iterator[str]:
    """What the columns tell of people."""
    promise = manifest.discreet
    blurred = {box.name for box in promise.boxes or ()}
    for name in promise.quasi:
        how = "shown as a range or a set" if name in blurred else "shown with its own values"
        yield f"`{name}`: an outsider may know it of a person; {how}"
    if promise.sensitive is not None:
        yield f"`{promise.sensitive}`: sensitive; which person of a group holds which value is not in the files"


def limitations(manifest: Manifest) -> Iterator[str]:
    """What the files do not tell, or tell otherwise than the table did."""
    promise = manifest.discreet
    yield "Answers about the sensitive column are estimates with bounds, not exact figures."
    if promise.suppression:
        yield f"Up to {promise.suppression:.3%} of the rows of the table were left out."
    if promise.missing_sensitive == "withhold":
        yield "Rows whose sensitive value was missing were left out."
    if promise.harmless:
        yield f"Whoever holds {promise.spared} is promised nothing but the size of groups."
    if not promise.for_publication:
        yield "Made with a fixed seed, for tests only: not for publication."


def citation(manifest: Manifest) -> str:
    """How to cite the release."""
    who = next((str(each["title"]) for each in manifest.contributors or () if each.get("title")), None)
    when = manifest.created[:4] if manifest.created else None
    parts = [who, title(manifest), manifest.version or FIRST, when, manifest.homepage]
    return ". ".join(part for part in parts if part)


def licence(manifest: Manifest) -> str | None:
    """The address of the first licence, or its name."""
    first = next(iter(manifest.licenses or ()), {})
    return next((str(first[key]) for key in ("path", "name", "title") if first.get(key)), None)
