"""`text`: a published column is text, though all its values look like numbers or dates.

Texts have no order: groups of similar people cannot be formed by them, and questions cannot ask for more or less.
Cost: the distinct values of these columns.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from discreet.errors import DiscreetWarning
from discreet.table.looks import looks

if TYPE_CHECKING:
    from discreet.publication.draft import Prepared


def text(prepared: Prepared) -> Iterator[DiscreetWarning]:
    """Warn of texts that look like something else."""
    for look in looks(prepared.table, prepared.policy.columns):
        what = f"`{look.column}` is published as text, though all its values look like {look.like}"
        yield DiscreetWarning(f"text.{look.column}", what, hint=look.advice)
