"""Publications: what is shown of a group. One publication per file; this is their registry.

Every file `NAME.py` has a `sheets(draft)`: the data files to write, as acts of the engine. `join`, whose
rows come from two tables, goes its own way (see `publish`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from discreet.publication.draft import Draft
    from discreet.release.write import Sheet


@dataclass(frozen=True, slots=True)
class Publication:
    """A way to show rows: whether sensitive values must have an order and distances, and whether it forms groups.

    A `boxed` one shows of the quasi-identifiers only the box of a group. Its `options` are as a partition's.
    """

    name: str
    numeric: bool = False
    grouped: bool = True
    boxed: bool = False
    options: Mapping[str, tuple[str, ...] | str] = field(default_factory=dict)
    room: str = "publication"

    def sheets(self, draft: Draft) -> Sequence[Sheet]:
        """The data files of a release."""
        sheets: Sequence[Sheet] = import_module(f"discreet.{self.room}.{self.name}").sheets(draft)
        return sheets


PUBLICATIONS = {
    publication.name: publication
    for publication in (
        Publication("anatomy"),
        Publication("permutation", numeric=True),
        Publication("full_permutation"),
        Publication("swap", numeric=True, grouped=False, room="comparison"),
        Publication("generalization", boxed=True),
        Publication("join", boxed=True, options={"variant": ("refinement", "direct")}),
    )
}
