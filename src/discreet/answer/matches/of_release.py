"""Which way rows of one release match: as it shows them, or by the boxes of its groups alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pyarrow as pa

from discreet.answer.matches.boxed import Boxed
from discreet.answer.matches.boxes import Given, PublishedBoxes, TightBoxes
from discreet.answer.matches.counted import Counted
from discreet.answer.matches.margins import Margins
from discreet.answer.matches.matches import Matches
from discreet.answer.matches.swapped import Swapped
from discreet.errors import QueryError
from discreet.release.layouts import layout_of
from discreet.release.manifest import Promise
from discreet.values.columns import is_ordered


@dataclass(frozen=True)
class OfRelease:
    """The ways of one release; `ends` looks up the smallest and the largest value of columns."""

    promise: Promise
    types: Mapping[str, pa.DataType]
    ends: Callable[[Sequence[str]], dict[str, tuple[Any, Any]]]

    def asked(self, *, generalized: bool | Given) -> Matches:
        """As the release shows rows or, if `generalized`, by tight boxes or by those that are given."""
        if isinstance(self.own, Boxed):
            if not isinstance(generalized, bool) and len(generalized) > 0:
                raise QueryError("a generalized release has boxes of its own", hint="ask it as it is")
            return self.own
        if isinstance(generalized, bool):
            return self._tight if generalized else self.own
        return Boxed(self._tight_boxes.widened(generalized))

    @cached_property
    def own(self) -> Matches:
        """How rows match as this release shows them."""
        promise = self.promise
        match layout_of(promise).matching:
            case "counted":
                return Counted()
            case "margins":
                alone = () if promise.sensitive is None else ((promise.sensitive,),)
                return Margins((*layout_of(promise).blocks(promise), *alone))
            case "swapped":
                return Swapped(promise)
            case "boxes":
                group = promise.group if promise.join is None else promise.join.group
                shown = [name for side in promise.boxes or () for name in (side.low, side.high) if name is not None]
                boxes = PublishedBoxes.of(promise.boxes or (), group, self.types, self.ends(shown))
                return Boxed(boxes, promise.join)

    @cached_property
    def _tight(self) -> Boxed:
        return Boxed(self._tight_boxes)

    @cached_property
    def _tight_boxes(self) -> TightBoxes:
        """The tight boxes that the groups of a release would have in a generalized one."""
        promise = self.promise
        if layout_of(promise).matching == "swapped":
            raise QueryError(
                f"a release by `{promise.publication}` has no groups to generalize", hint="ask it as it is"
            )
        ordered = [name for name in promise.quasi if is_ordered(self.types[name])]
        return TightBoxes.of(tuple(promise.quasi), promise.group, self.types, self.ends(ordered))
