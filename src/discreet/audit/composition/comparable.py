"""Which releases that show rows can be held against each other: they share quasi-identifiers and a sensitive column."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pc

from discreet.errors import ReleaseError
from discreet.release import Release
from discreet.release.harmless import harmless_values
from discreet.release.layouts import layout_of
from discreet.values.codes import Codes

ASKED = ("l", "distinct_l", "k", "e")  # what can be asked of the values that several releases leave
SHOWS = {"counted", "margins"}  # the ways of matching of publications that show quasi-identifiers as they are


def shows_rows(release: Release) -> bool:
    """Whether a release shows quasi-identifiers as they are, in whole rows or in blocks."""
    return layout_of(release.promise).matching in SHOWS


def shared(releases: Sequence[Release]) -> tuple[str, ...]:
    """The quasi-identifiers that all releases have; raise if they cannot be compared."""
    first = releases[0]
    for release in releases:
        if not shows_rows(release):
            raise ReleaseError(
                f"`{release.path}` is a release by {release.promise.publication}: it shows no rows as they are",
                hint="compare releases by generalization with each other, and releases that show rows with each other",
            )
        if release.promise.sensitive is None:
            raise ReleaseError(
                f"`{release.path}` has no sensitive column", hint="compare releases that tell something of one"
            )
        if release.promise.sensitive != first.promise.sensitive:
            raise ReleaseError(
                f"`{release.path}` has another sensitive column than `{first.path}`:"
                f" `{release.promise.sensitive}`, not `{first.promise.sensitive}`",
                hint="compare releases of one table: the same people and the same sensitive column",
            )
    quasi = tuple(name for name in first.promise.quasi if all(name in of.promise.quasi for of in releases))
    if not quasi:
        raise ReleaseError(
            f"`{releases[-1].path}` and `{first.path}` have no quasi-identifier in common",
            hint="compare releases of one table: people are recognised by the quasi-identifiers that all of them show",
        )
    return quasi


def harmless(releases: Sequence[Release], values: Codes) -> npt.NDArray[np.bool_]:
    """Of every sensitive value whether all releases name it harmless; a missing one, the last, never is."""
    spared = np.zeros(values.size, np.bool_)
    named = [release.promise.harmless for release in releases]
    if all(named):
        told = (harmless_values(each or (), values.domain.type) for each in named)
        spared[: len(values.domain)] = np.all([pc.is_in(values.domain, each) for each in told], axis=0)
    return spared


def promised(releases: Sequence[Release]) -> dict[str, int | float]:
    """What every one of some releases promises of a person's value and can be asked: of each threshold the weakest."""
    guarantees = [release.promise.guarantee for release in releases]
    names = [name for name in ASKED if all(name in of for of in guarantees)]
    return {name: min(of[name] for of in guarantees) for name in names}
