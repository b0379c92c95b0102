"""Layouts: which files a publication consists of, and how to read them. One publication per file; their registry."""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite

from pydantic import ValidationError

from discreet.release.layouts import plausible
from discreet.release.layouts.anatomy import ANATOMY
from discreet.release.layouts.chance import chance_faults
from discreet.release.layouts.file import File
from discreet.release.layouts.full_permutation import FULL_PERMUTATION
from discreet.release.layouts.generalization import GENERALIZATION
from discreet.release.layouts.join import JOIN
from discreet.release.layouts.layout import ALONE, MISNAMED, Layout, Tally
from discreet.release.layouts.permutation import PERMUTATION
from discreet.release.layouts.slicing import SLICING
from discreet.release.layouts.swap import SWAP
from discreet.release.manifest import Manifest, Promise, paths_of
from discreet.values.names import fresh

__all__ = ["LAYOUTS", "File", "Layout", "Tally", "cut_column", "files_of", "layout_of", "manifest_fault"]

MOST_ROWS = 1 << 40
LAYOUTS = {
    "anatomy": ANATOMY,
    "permutation": PERMUTATION,
    "full_permutation": FULL_PERMUTATION,
    "slicing": SLICING,
    "swap": SWAP,
    "generalization": GENERALIZATION,
    "join": JOIN,
}


def layout_of(promise: Promise) -> Layout:
    """The layout of a release whose manifest has no fault."""
    return LAYOUTS[promise.publication]


def files_of(promise: Promise) -> dict[str, File]:
    """The data files of a release: those of its publication, and plausible tables if it has any."""
    more = {} if promise.plausible is None else {plausible.NAME: plausible.file(promise)}
    return {**layout_of(promise).files(promise), **more}


def cut_column(promise: Promise, name: str) -> str | None:
    """The column of group numbers by which a table is cut into parts, if its rows stand group by group."""
    orders = [*layout_of(promise).orders(promise), *([plausible.order(promise)] if promise.plausible else [])]
    first = next(columns[0] for files, columns, _ in orders if files == (name,))
    return first if first in {promise.group, promise.join and promise.join.group} else None


def manifest_fault(manifest: Manifest) -> str | None:
    """How a manifest differs from the layout of its publication, if it does."""
    return next(_faults(manifest), None)


def _faults(manifest: Manifest) -> Iterator[str]:
    promise = manifest.discreet
    if promise.publication not in LAYOUTS:
        yield f"it is a publication that this software does not know: `{promise.publication}`"
        return
    layout = LAYOUTS[promise.publication]
    yield from _figures(promise)
    yield from _members(promise, layout)
    yield from layout.faults(promise)
    yield from chance_faults(promise, layout)
    yield from _names(promise, layout)
    yield from plausible.faults(promise, layout)
    files = files_of(promise)
    if [resource.name for resource in manifest.resources] != list(files):
        yield f"it has other tables than {' and '.join(f'`{name}`' for name in files)}"
        return
    types = layout.types(promise)
    for resource in manifest.resources:
        file, names = files[resource.name], resource.table.names()
        if resource.paths != paths_of(resource.name, len(resource.paths), resource.format):
            yield "it lists a data file whose path is not its name and format, `qit.parquet` or `qit-00001.parquet`"
        if resource.in_parts and resource.format != "parquet":
            yield "only Parquet files are parts of a table"
        if names != list(file.columns):
            yield "it lists other columns than its publication, quasi-identifiers and sensitive column call for"
        if any(resource.kinds().get(name, kind) != kind for name, kind in types.items()):
            yield "a column that shows boxes has another type than the manifest says of its quasi-identifier"
        if any(resource.kinds().get(name) != "integer" for name in file.added):
            yield "the columns that a release adds, such as `group` and `count`, must hold whole numbers"
        if resource.table.foreign_keys not in (None, file.links):
            yield "its foreign keys are not those of its publication"


def _figures(promise: Promise) -> Iterator[str]:
    """What is said of numbers of rows and groups, and of thresholds, and cannot be."""
    if not 1 <= promise.rows < MOST_ROWS or not 1 <= promise.groups <= promise.rows:
        yield "it must have at least one row and one group, and no more groups than rows"
    if any(not isfinite(threshold) or threshold < (name == "k") for name, threshold in promise.guarantee.items()):
        yield "it has a threshold that promises nothing"
    if promise.suppression is not None and not 0 <= promise.suppression <= 1:  # nor is NaN
        yield "the share of rows that may be suppressed must lie between 0 and 1"


def _members(promise: Promise, layout: Layout) -> Iterator[str]:
    """What a manifest says of another publication than its own, or does not say of its own."""
    for member, alone in ALONE.items():
        if (getattr(promise, member) is not None) != (member in layout.members):
            yield alone
    own = (promise.model_extra or {}).get(promise.publication)
    try:
        meant = None if layout.member is None else layout.member.model_validate(own).model_dump(mode="json")
    except ValidationError:
        meant = {}
    if own != meant:
        yield f"its member `{promise.publication}` is missing, or not as a release by `{promise.publication}` has it"
    if (promise.person is None) != (promise.people is None):
        yield "it says which column numbers people, or how many there are, and not both"
    if promise.person is not None and not layout.people:
        yield "people with several rows are shown by `anatomy` and `permutation` alone"
    if promise.lots is not None and (
        promise.sequence is None or promise.lots < 1 or not promise.guarantee.keys() <= {"k", "l", "distinct_l"}
    ):
        yield "only a release of a vault has `lots`, at least 1, and then it is promised `k`, `l` or `distinct_l` alone"
    if not promise.quasi:
        yield "it names no quasi-identifier"
    if promise.sensitive is None and layout.needs_sensitive:
        yield "only a full permutation can do without a sensitive column"


def _names(promise: Promise, layout: Layout) -> Iterator[str]:
    """Our own columns must have their usual names; only an underscore tells them from columns of the table."""
    ours = [("group", promise.group), ("count", promise.count), ("row", promise.row), *layout.names(promise)]
    if promise.person is not None:
        ours.append(("person", promise.person))
    roles = [*promise.columns, *(name for _, name in ours)]
    if len({name.lower() for name in roles}) != len(roles):
        yield "a column has two roles"
    if any(name != fresh(usual, promise.columns) for usual, name in ours) or not promise.partition.isidentifier():
        yield MISNAMED
