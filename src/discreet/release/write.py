"""Write a release so that there is never half of one: into a hidden folder, verified there, then renamed.

Killed at any moment, this leaves at most a hidden folder beside the target, never one under its name; the next
release that is written beside it sweeps it, unless somebody watches it.
"""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

import pyarrow.parquet as pq

from discreet.errors import DiscreetError, InternalError, ReleaseError, VerificationError
from discreet.release import portals, readme
from discreet.release.files import digest
from discreet.release.manifest import (
    MOST_PARTS,
    NAME,
    FieldSpec,
    Manifest,
    Promise,
    Resource,
    TableSpec,
    format_of,
    paths_of,
    slug,
)
from discreet.release.parts import cut
from discreet.release.release import Release
from discreet.release.verify import verify_alone
from discreet.scratch import made, remove, sweep
from discreet.visible import in_json

DRAFTS = re.compile(r"\..+\.[0-9a-f]{8}\.draft")  # hidden folders that the next release beside them sweeps
EPOCH = 946_684_800  # 2000-01-01: the files do not tell when, or how fast, they were made


@dataclass(frozen=True, slots=True)
class FileToWrite:
    """A table to be: its name, its columns, and the act that writes its file, beside others at the same time.

    An act that is told one path and writes several files beside it says what these are called.
    """

    name: str
    table: TableSpec
    store: Callable[[Path], None]
    paths: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Written:
    """A table that is written already: its name, its columns, and its files in the order of their rows.

    The files lie in the folder of the release, or on the same disk, under any names, and carry no notes of their
    writer. If there are several, they are Parquet files that end where `release/parts.py` says.
    """

    name: str
    table: TableSpec
    files: Sequence[Path]


# A file more, made of nothing but the folder of a release that is otherwise whole; and what its manifest says then.
Extend: TypeAlias = Callable[[Path], tuple[Promise, FileToWrite]]


def _nothing(_: Path) -> None:
    pass


@dataclass(frozen=True, slots=True)
class Watch:
    """Who is told how far a release has come, each time of its hidden folder, and may raise to stop it.

    `begun`: it will be made; `verified`: it has verified; `settled`: its files are safe on disk, and all that is left
    is to give it its name. `withdrawn`: it was not shown, and never will be; its folder goes once this is taken in.
    If the process is killed, its folder stays: as `.draft` for the next release to sweep, as `.partial` for whoever
    watches to find.
    """

    begun: Callable[[Path], None] = _nothing
    verified: Callable[[Path], None] = _nothing
    settled: Callable[[Path], None] = _nothing
    withdrawn: Callable[[Path], None] = _nothing
    ending: Literal["draft", "partial"] = "draft"


SILENT = Watch()
NOTHING: Mapping[str, Any] = MappingProxyType({})


def write(
    to: Path,
    promise: Promise,
    files: Sequence[FileToWrite],
    *,
    format: Literal["parquet", "csv"],
    progress: Callable[[str], None],
    about: Mapping[str, Any] = NOTHING,
    watch: Watch | None = None,
    extend: Extend | None = None,
    rows_per_part: int | None = None,
) -> Release:
    """Write, extend by what is made of the files, verify, and only then publish under the name `to`.

    `about` has the members of a Data Package that describe it.
    """
    watch = watch or SILENT
    with hidden(to, watch) as folder:
        progress("writing")
        manifest = fill(folder, promise, files, format=format, about=about, extend=extend, rows_per_part=rows_per_part)
        return _shown(folder, to, manifest, progress, watch)


def complete(
    folder: Path,
    to: Path,
    promise: Promise,
    tables: Sequence[Written],
    *,
    progress: Callable[[str], None] = lambda _: None,
    about: Mapping[str, Any] = NOTHING,
    watch: Watch | None = None,
    extend: Extend | None = None,
    memory_limit: str | None = None,
) -> Release:
    """Make a release of Parquet files that somebody else has written, in a folder that is `hidden` until it is shown.

    The files get their names, and manifest, README and what portals read are added; then all is verified, and only
    then published under the name `to`. It stands inside `with hidden(to, watch) as folder:`, which cleans up. Verifying
    takes at most `memory_limit`, and goes on to disk beyond.
    """
    manifest = _described(folder, promise, tables, about=about, extend=extend)
    return _shown(folder, to, manifest, progress, watch or SILENT, memory_limit)


def _shown(
    folder: Path,
    to: Path,
    manifest: Manifest,
    progress: Callable[[str], None],
    watch: Watch,
    memory_limit: str | None = None,
) -> Release:
    """Verify what is written, and give it its name."""
    progress("verifying")
    report = verify_alone(folder, memory_limit=memory_limit)
    if not report.ok:
        broken = "; ".join(f"{check.name}: {check.detail}" for check in report.failures)
        raise VerificationError(f"the release was not written because it did not verify: {broken}")
    watch.verified(folder)
    settle(folder)
    watch.settled(folder)
    reveal(folder, to)
    return Release(to, manifest)


def fill(
    folder: Path,
    promise: Promise,
    files: Sequence[FileToWrite],
    *,
    format: Literal["parquet", "csv"] = "parquet",
    about: Mapping[str, Any] = NOTHING,
    extend: Extend | None = None,
    rows_per_part: int | None = None,
) -> Manifest:
    """Write all files of a release to a folder."""
    with ThreadPoolExecutor(len(files)) as threads:
        tables = list(threads.map(lambda file: _stored(file, folder, format, promise, rows_per_part), files))
    return _described(folder, promise, tables, format=format, about=about, extend=extend, rows_per_part=rows_per_part)


def _described(
    folder: Path,
    promise: Promise,
    tables: Sequence[Written],
    *,
    format: Literal["parquet", "csv"] = "parquet",
    about: Mapping[str, Any] = NOTHING,
    extend: Extend | None = None,
    rows_per_part: int | None = None,
) -> Manifest:
    """Give files that are written their names, and add all that is said of them; and the table that extends them."""
    resources = [_resource(table, folder, format) for table in tables]
    manifest = _manifest(folder, promise, resources, about)
    if extend is not None:
        extended, file = extend(folder)
        resources.append(_resource(_stored(file, folder, format, extended, rows_per_part), folder, format))
        manifest = _manifest(folder, extended, resources, about)
    for name, text in {readme.NAME: readme.readme(manifest), **portals.texts(manifest)}.items():
        (folder / name).write_text(text, encoding="utf-8")
    return manifest


def _manifest(folder: Path, promise: Promise, resources: Sequence[Resource], about: Mapping[str, Any]) -> Manifest:
    promise = promise.model_copy(update={"format": format_of(resources)})
    manifest = Manifest(name=slug(promise.table), resources=tuple(resources), discreet=promise, **about)
    (folder / NAME).write_text(in_json(manifest.to_json()), encoding="utf-8")
    return manifest


def reveal(folder: Path, to: Path) -> None:
    """Give a hidden release its name, for good."""
    free(to)
    folder.rename(to)
    sync(to.parent)


def free(to: Path) -> None:
    """Raise if the place of a release is taken."""
    if "\0" in str(to):
        raise ReleaseError("no folder can have that name", hint="choose another folder")
    try:
        taken = to.exists() or to.is_symlink()
    except OSError:
        raise ReleaseError(f"`{to}` cannot be written", hint="choose another folder") from None
    if taken:
        raise ReleaseError(f"`{to}` exists already", hint="a release is never overwritten: choose another folder")
    around = next((folder for folder in to.absolute().parents if (folder / NAME).is_file()), None)
    if around is not None:
        raise ReleaseError(
            f"`{to}` is inside the release `{around.name}`",
            hint="with it that release would no longer verify: choose another folder",
        )


def _stored(file: FileToWrite, folder: Path, format: str, promise: Promise, rows_per_part: int | None) -> Written:
    path = folder / f"{file.name}.{format}"
    file.store(path)
    if file.paths is not None:
        files = [folder / each for each in file.paths]
    else:
        files = cut(path, promise, file.name, rows_per_part) if format == "parquet" else [path]
    return Written(file.name, file.table, files)


def _resource(written: Written, folder: Path, format: Literal["parquet", "csv"]) -> Resource:
    """Name the files of a table, and say what they are."""
    if not 1 <= len(written.files) <= MOST_PARTS:
        raise InternalError(f"the table `{written.name}` is in {len(written.files):,} parts, not 1 to {MOST_PARTS:,}")
    names = paths_of(written.name, len(written.files), format)
    paths = [_renamed(file, folder / name) for file, name in zip(written.files, names, strict=True)]
    size = paths[0].stat().st_size if format == "csv" else None
    table = _called(written.table, paths) if format == "parquet" else written.table
    hashes = tuple(map(digest, paths))
    about = {"path": names, "hashes": hashes} if len(paths) > 1 else {"path": names[0], "hash": hashes[0]}
    return Resource(name=written.name, format=format, bytes=size, table=table, **about)


def _renamed(file: Path, path: Path) -> Path:
    if file.absolute() != path.absolute() and os.path.lexists(path):  # it may be a part that was not renamed yet
        raise InternalError(f"a file that was to be called `{path.name}` would take the place of another")
    return file.rename(path)


def _called(table: TableSpec, paths: Sequence[Path]) -> TableSpec:
    """The columns of Parquet files, as their manifest calls them; see `FieldSpec`."""
    missing: set[str] = set()
    for about in map(pq.read_metadata, paths):
        parts = (about.row_group(i).column(j) for i in range(about.num_row_groups) for j in range(about.num_columns))
        missing |= {part.path_in_schema for part in parts if part.statistics is None or part.statistics.null_count != 0}

    def called(field: FieldSpec) -> FieldSpec:
        whole = field.type == "integer" and field.name in missing
        return FieldSpec(name=field.name, type="number", whole=True) if whole else field

    return table.model_copy(update={"fields": tuple(map(called, table.fields))})


@contextmanager
def hidden(to: Path, watch: Watch = SILENT) -> Iterator[Path]:
    """A folder beside the target that is gone when anything fails; nobody else's until it is verified."""
    free(to)
    new = [parent for parent in to.parents if not parent.exists()]
    try:
        to.parent.mkdir(parents=True, exist_ok=True)
        sweep(to.parent, DRAFTS)
        folder = made(lambda: _drawn(to, watch))
        try:
            for parent in (to.parent, *(each.parent for each in new)):
                sync(parent)
            yield folder.path
        finally:
            try:
                _remove(folder.path, watch)
            finally:
                folder.let_go()
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise ReleaseError(f"`{to}` could not be written: {reason}; nothing was published") from None
    finally:
        if not to.exists():
            for parent in new:
                with suppress(OSError):
                    parent.rmdir()


def _drawn(to: Path, watch: Watch) -> Path:
    """Where a hidden folder is about to be made; whoever watches is told before it is."""
    folder = to.parent / f".{to.name}.{secrets.token_hex(4)}.{watch.ending}"
    watch.begun(folder)
    return folder


def _remove(folder: Path, watch: Watch) -> None:
    """Remove a hidden folder that is still there: it was not shown, and whoever watches must know before it goes."""
    if os.path.lexists(folder):
        try:
            watch.withdrawn(folder)
        except DiscreetError:  # then it stays, for whoever watches to find
            return
        remove(folder)


def settle(folder: Path) -> None:
    """Make the files durable, their times silent, and the folder anyone's to read."""
    umask = os.umask(0)
    os.umask(umask)
    folder.chmod(0o777 & ~umask)
    for path in [*sorted(folder.iterdir()), folder]:
        os.utime(path, (EPOCH, EPOCH))
        sync(path)


def sync(path: Path) -> None:
    """Wait until a file, or which names a folder holds, is safe on disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
