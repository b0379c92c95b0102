"""A manifest that others have laid out anew, or described: what it says must still be what was published.

Portals add a title, a licence, a contact, and write the file in their own layout. That is no fault, as long as the
description is all that was added: the rest says the same, in the same order or sorted, and the text is what a common
program writes of it, so that nothing can hide between the lines.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import product
from typing import Any

from discreet.release.manifest import DESCRIPTIVE, Manifest

INDENTS = (None, 1, 2, 3, 4, 8, "\t")


def says_the_same(text: bytes, manifest: Manifest) -> bool:
    """Whether a text is the manifest in some common layout, whatever its description is."""
    try:
        found = text.decode("utf-8")
        values = json.loads(found, object_pairs_hook=_once)
    except ValueError:
        return False
    core = json.dumps({key: value for key, value in values.items() if key not in DESCRIPTIVE})
    own = json.loads(manifest.core().to_json())
    same = core in {json.dumps(own), json.dumps(own, sort_keys=True)}
    return same and found.removesuffix("\n") in _layouts(values)


def _layouts(values: Any) -> Iterator[str]:
    """The text of values as common programs write it."""
    for indent, ascii_, compact in product(INDENTS, (True, False), (True, False)):
        separators = (",", ":") if compact and indent is None else None
        yield json.dumps(values, indent=indent, ensure_ascii=ascii_, separators=separators)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key stands twice")
    return found
