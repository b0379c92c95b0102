"""Layouts: which files a publication consists of, and how to read them. One publication per file; their registry.

Whatever its files, a release is read as two tables: `qit`, one row per person with the
quasi-identifiers, or what a box shows of them, and the group; and `st`, how many people (`n`) of
each group (`grp`) hold each sensitive value (`value`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from sqlglot import exp

from discreet.release.layouts.anatomy import Anatomy
from discreet.release.layouts.file import File
from discreet.release.layouts.full_permutation import FullPermutation
from discreet.release.layouts.generalization import Generalization
from discreet.release.layouts.join import Joined
from discreet.release.layouts.permutation import Permutation
from discreet.release.layouts.swap import Swap
from discreet.release.manifest import Manifest, Promise
from discreet.values.names import fresh

__all__ = ["LAYOUTS", "File", "Layout", "misfit"]


class Layout(Protocol):
    """How one publication lays out a release."""

    def files(self, promise: Promise) -> dict[str, File]:
        """The data files by name."""
        ...

    def orders(self, promise: Promise) -> list[tuple[tuple[str, ...], tuple[str, ...], bool]]:
        """Files laid side by side, the columns their rows are sorted by, and whether no two rows agree in them."""
        ...

    def tables(self, promise: Promise) -> dict[str, exp.Select]:
        """The queries that make `qit` and `st` from the files, each there as `NAME file`."""
        ...

    def readme(self, manifest: Manifest) -> str:
        """What the files hold and how to use them with nothing but a database."""
        ...


LAYOUTS: dict[str, Layout] = {
    "anatomy": Anatomy(),
    "permutation": Permutation(),
    "full_permutation": FullPermutation(),
    "swap": Swap(),
    "generalization": Generalization(),
    "join": Joined(),
}
BOXED = {"generalization", "join"}


def misfit(manifest: Manifest) -> str | None:
    """How a manifest differs from the layout of its publication, if it does."""
    return next(_misfits(manifest), None)


def _misnamed(promise: Promise) -> Iterator[str]:
    """Our own columns must have their usual names; only an underscore tells them from columns of the table."""
    ours = [("group", promise.group), ("count", promise.count), ("row", promise.row)]
    if promise.window is not None:
        ours += [("low", promise.window.low), ("high", promise.window.high)]
    if promise.join is not None:
        ours.append(("sensitive_group", promise.join.group))
    for side in promise.boxes or ():
        ends = {f"{side.name}_low": side.low, f"{side.name}_high": side.high, f"{side.name}_missing": side.missing}
        ours += [(usual, name) for usual, name in ends.items() if name is not None]
        if (side.low is None) != (side.high is None) or (side.low is None) == (side.label is None):
            yield "a box has half of a side, or two"
        if side.label not in (None, side.name):
            yield "it says something in the place of a name"
    roles = [*promise.columns, *(name for _, name in ours)]
    if len({name.lower() for name in roles}) != len(roles):
        yield "a column has two roles"
    if any(name != fresh(usual, promise.columns) for usual, name in ours) or not promise.partition.isidentifier():
        yield "it says something in the place of a name"


def _shown_as(promise: Promise) -> dict[str, str]:
    """The types of the columns that show boxes."""
    kinds: dict[str, str] = {
        name: side.type for side in promise.boxes or () for name in (side.low, side.high) if name is not None
    }
    kinds |= {side.missing: "boolean" for side in promise.boxes or () if side.missing is not None}
    return kinds | {side.label: "string" for side in promise.boxes or () if side.label is not None}


def _stray(promise: Promise) -> str | None:
    """What a manifest says of another publication than its own."""
    if (promise.window is not None) != (promise.publication == "swap"):
        return "windows belong to swapped tables, and to them alone"
    if (promise.join is not None) != (promise.publication == "join"):
        return "a join belongs to joined tables, and to them alone"
    if promise.sensitive is None and promise.publication != "full_permutation":
        return "only a full permutation can do without a sensitive column"
    boxes = [side.name for side in promise.boxes or ()]
    if boxes != (list(promise.quasi) if promise.publication in BOXED else []):
        return "boxes belong to generalized tables, one side to every quasi-identifier"
    return None


def _misfits(manifest: Manifest) -> Iterator[str]:
    promise = manifest.discreet
    if promise.publication not in LAYOUTS:
        yield f"it is a publication that this software does not know: `{promise.publication}`"
        return
    if (stray := _stray(promise)) is not None:
        yield stray
        return
    files = LAYOUTS[promise.publication].files(promise)
    yield from _misnamed(promise)
    if [resource.name for resource in manifest.resources] != list(files):
        yield f"it has other tables than {' and '.join(f'`{name}`' for name in files)}"
        return
    for resource in manifest.resources:
        file, names = files[resource.name], resource.table.names()
        if resource.path != f"{resource.name}.{resource.format}":
            yield "it lists a data file with a strange path"
        if names != list(file.columns):
            yield "it lists other columns than it promises"
        if any(resource.kinds().get(name, kind) != kind for name, kind in _shown_as(promise).items()):
            yield "it shows boxes of another type than it says"
        if any(resource.kinds().get(name) != "integer" for name in file.added):
            yield "its own columns are not whole numbers"
        if resource.table.foreign_keys not in (None, file.links):
            yield "its foreign keys are not a release's"
