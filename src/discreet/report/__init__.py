"""The report on a release: what a data protection officer reads before she signs, as pages and as figures.

`facts` is what is known, `gather` finds it out, `sections` and `charts` show it, `make` writes the files. The
package itself can be called: `discreet.report(release, to=...)` is `discreet.report.make.report(release, to=...)`.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from discreet.report.make import Written


class _Report(ModuleType):
    """The package as the front door shows it."""

    def __call__(self, release: Any, **given: Any) -> Written:
        """Write the report on a release: see `discreet.report.make`."""
        from discreet.report.make import report as make

        return make(release, **given)


report = sys.modules[__name__]  # what the front door hands out, whatever was imported before
report.__class__ = _Report
