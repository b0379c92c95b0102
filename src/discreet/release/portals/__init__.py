"""What portals read of a release: the facts of the manifest once more, in the words of others. One form per file.

They are made from the manifest alone, so the same manifest always gives the same text.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from discreet.release.manifest import Manifest
from discreet.release.portals.croissant import croissant
from discreet.release.portals.dcat import dcat
from discreet.visible import in_json

FORMS: Mapping[str, Callable[[Manifest], Mapping[str, Any] | None]] = {"croissant.json": croissant, "dcat.jsonld": dcat}


def texts(manifest: Manifest) -> dict[str, str]:
    """The files for portals, by their names; without those whose form asks for more than the manifest states."""
    documents = {name: form(manifest) for name, form in FORMS.items()}
    return {
        name: in_json(json.dumps(document, indent=2, ensure_ascii=False)) + "\n"
        for name, document in documents.items()
        if document is not None
    }
