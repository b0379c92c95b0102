"""Publications: what is shown of a group. One publication per file, which calls it `PUBLICATION`; their registry."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from discreet.publication.publication import Publication

FILES = {
    "anatomy": "discreet.publication.anatomy",
    "permutation": "discreet.publication.permutation",
    "full_permutation": "discreet.publication.full_permutation",
    "slicing": "discreet.publication.slicing",
    "swap": "discreet.comparison.swap",
    "generalization": "discreet.publication.generalization",
    "join": "discreet.publication.join",
}
# The keys of a policy that mean something to one publication alone.
KEYS = {"join": "join", "together": "slicing"}


@cache
def _loaded(name: str) -> Publication:
    found: Publication = import_module(FILES[name]).PUBLICATION
    return found


class _Publications(Mapping[str, "Publication"]):
    """Each by its name, imported when it is first looked at: a policy needs the names of all, and one of them."""

    def __getitem__(self, name: str) -> Publication:
        return _loaded(name)

    def __iter__(self) -> Iterator[str]:
        return iter(FILES)

    def __len__(self) -> int:
        return len(FILES)

    def __contains__(self, name: object) -> bool:
        return name in FILES


PUBLICATIONS: Mapping[str, Publication] = _Publications()
