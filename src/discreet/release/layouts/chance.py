"""What a manifest says of the chance behind its groups, and of estimates: whether it can be so.

An estimator is valid only by the chance that it assumes, so nothing may be said that the partition's name belies.
"""

from __future__ import annotations

from collections.abc import Iterator

from discreet.release.layouts.layout import Layout
from discreet.release.manifest import Promise

PARTITIONS = {
    "dealt": {"deal", "mixed"},
    "cells": {"mixed"},
    "near": {"local", "cluster", "mondrian", "compact", "topdown", "full_domain"},
}
BY_DESIGN = {"dealt", "cells"}  # the chance that the estimator `design` counts on


def chance_faults(promise: Promise, layout: Layout) -> Iterator[str]:
    """What is said of `randomness` and `estimator`, and cannot be."""
    said, estimator = promise.randomness, promise.estimator
    if layout.matching != "counted" and (said is not None or estimator is not None):
        yield "only where rows and their groups' values are both shown, `randomness` and `estimator` are told"
    if said is not None and promise.partition not in PARTITIONS[said]:
        yield f"its `randomness` is `{said}`, which the partition `{promise.partition}` does not have"
    if said is not None and (promise.person is not None or promise.suppression is not None):
        yield "its `randomness` is told beside a `person` or `suppression`, where it is not known"
    if (promise.cells is not None) != (said == "cells"):
        yield "its `cells` must be there where its `randomness` is `cells`, and only there"
    elif promise.cells is not None and not (min(promise.cells, default=0) > 0 and sum(promise.cells) == promise.groups):
        yield "its `cells` must have a group or more each, and all groups together"
    if said == "cells" and promise.cuts != "blind":
        yield "its `randomness` is `cells`, and it does not say that they were cut blindly"
    if said is not None and estimator is None:
        yield "its `randomness` is told without the `estimator` that follows from it"
    if estimator == "design" and said not in BY_DESIGN:
        yield "its `estimator` is `design`, which needs the `randomness` `dealt` or `cells`"
