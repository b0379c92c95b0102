"""The releases before one: each is found by the digest of its manifest, which its successor names.

A title or a licence that somebody adds to a manifest changes nothing of it: the digest is that of its core.

Nothing is known of where they are but that somebody has put them beside the release, or says where.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from discreet.errors import ReleaseError
from discreet.release.files import content, digest, digest_of
from discreet.release.manifest import MOST, NAME, Manifest, Promise

DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
SEQUENCE = re.compile(r"[0-9a-f]{32}")
SAME = ("sequence", "publication", "partition", "guarantee", "table", "quasi", "sensitive", "missing_sensitive", "lots")


def shelf(places: Sequence[Path]) -> dict[str, Path]:
    """The releases that some folders are, or that lie in them, by the digest of their manifest."""
    found: dict[str, Path] = {}
    for place in places:
        if not place.is_dir():
            raise ReleaseError(f"there is no folder `{place}`", hint="name the folder of a release, or of many")
        for path in (place, *_inside(place)):
            try:
                found.setdefault(identity(path), path)
            except OSError:  # no release, or not ours to read
                continue
    return found


def identity(folder: Path) -> str:
    """The digest by which a release is known: of its manifest, without what describes it.

    Of a manifest that cannot be read it is that of the file; raise `OSError` if there is none.
    """
    content(folder / NAME, most=MOST)
    try:
        return digest_of(Manifest.read(folder).core().to_json().encode())
    except ReleaseError:
        return digest(folder / NAME)


def _inside(place: Path) -> Iterator[Path]:
    try:
        yield from sorted(path for path in place.iterdir() if not path.name.startswith(".") and path.is_dir())
    except OSError:
        return


def estranged(before: Promise, after: Promise) -> str | None:
    """How two releases differ that are said to follow each other, where they must not."""
    return next((f"`{key}`" for key in SAME if getattr(before, key) != getattr(after, key)), None)
