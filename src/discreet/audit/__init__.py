"""Audits: metrics of a release, attacks on it, and what several tell together; from the released files alone.

The package itself can be called: `discreet.audit(releases)` is `discreet.audit.several.audit(releases)`.
Otherwise a package and a function of the front door could not share a name, and this is the word for both.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from discreet.audit.composition.report import Composed
    from discreet.audit.sequence.report import Inferences
    from discreet.release import Release


class _Audit(ModuleType):
    """The package as the front door shows it."""

    def __call__(
        self,
        releases: Sequence[Release | str | Path],
        *,
        insertions: Literal["known", "unknown"] | None = None,
        same_people: bool = False,
        truth: str | Path | Any = None,
    ) -> Inferences | Composed:
        """Compare releases of one table, oldest first: see `discreet.audit.several`."""
        from discreet.audit.several import audit

        return audit(releases, insertions=insertions, same_people=same_people, truth=truth)


audit = sys.modules[__name__]  # what the front door hands out, whatever was imported before
audit.__class__ = _Audit
