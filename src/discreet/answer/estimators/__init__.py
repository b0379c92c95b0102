"""Estimators: what makes an estimate and its standard error of a release, one per file; bounds are the same for all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module

from discreet.answer.estimators.estimator import Estimated, Estimator
from discreet.errors import QueryError
from discreet.release.manifest import Promise
from discreet.words import nearest

__all__ = ["ESTIMATORS", "Estimated", "Estimator", "check_known", "chosen"]

# The name of every estimator, and the module and class that make it.
_HOMES = {
    "even": ("even", "Even"),
    "design": ("design", "ByDesign"),
    "shrunk": ("design", "Shrunk"),
    "learned": ("learned.learned", "Learned"),
}


class _Estimators(Mapping[str, type[Estimator]]):
    """Each by its name, imported when it is first looked at: most questions need `even` alone, and Numba with none."""

    def __getitem__(self, name: str) -> type[Estimator]:
        module, made = _HOMES[name]
        found: type[Estimator] = getattr(import_module(f"{__name__}.{module}"), made)
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(_HOMES)

    def __len__(self) -> int:
        return len(_HOMES)

    def __contains__(self, name: object) -> bool:
        return name in _HOMES


ESTIMATORS: Mapping[str, type[Estimator]] = _Estimators()


def check_known(name: str | None) -> None:
    """Raise for what is no estimator at all."""
    if name is not None and name not in ESTIMATORS:
        raise QueryError(f"`{name}` is no estimator", hint=nearest(str(name), ESTIMATORS))


def chosen(wanted: str | None, promise: Promise, *, counted: bool) -> type[Estimator]:
    """The estimator that was asked for, or else the one that the release names; `even` where rows are not counted.

    Which one it is depends on the question and the manifest alone, so that an answer can be had again.
    """
    check_known(wanted)
    if wanted is None:
        return ESTIMATORS[(promise.estimator or "even") if counted else "even"]
    found = ESTIMATORS[wanted]
    if not counted and wanted != "even":
        raise QueryError(
            f"`{wanted}` needs rows as they are beside the values of their group, which are not asked here",
            hint='use estimator "even", or ask a release by `anatomy` or `permutation` as it is',
        )
    refused = found.why_not(promise)
    if refused is not None:
        raise QueryError(refused.why, hint=refused.instead)
    return found
