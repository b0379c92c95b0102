"""Write a release so that there is never half of one: into a hidden folder, verified there, then renamed.

Killed at any moment, this leaves at most a hidden folder beside the target, never one under its name; the next
release that is written beside it sweeps it, unless somebody watches it.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

import pyarrow.parquet as pq

from discreet.errors import DiscreetError, ReleaseError, VerificationError
from discreet.release import portals, readme
from discreet.release.files import digest
from discreet.release.manifest import NAME, FieldSpec, Manifest, Promise, Resource, TableSpec, slug
from discreet.release.release import Release
from discreet.release.verify import verify_alone
from discreet.scratch import made, sweep
from discreet.visible import in_json

DRAFTS = re.compile(r"\..+\.[0-9a-f]{8}\.draft")  # hidden folders that the next release beside them sweeps
EPOCH = 946_684_800  # 2000-01-01: the files do not tell when, or how fast, they were made


@dataclass(frozen=True, slots=True)
class FileToWrite:
    """A data file to be: its name, its columns, and the act that writes it, beside others at the same time."""

    name: str
    table: TableSpec
    store: Callable[[Path], None]


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
) -> Release:
    """Write, extend by what is made of the files, verify, and only then publish under the name `to`.

    `about` has the members of a Data Package that describe it.
    """
    watch = watch or SILENT
    with hidden(to, watch) as folder:
        progress("writing")
        manifest = fill(folder, promise, files, format=format, about=about, extend=extend)
        progress("verifying")
        report = verify_alone(folder)
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
) -> Manifest:
    """Write all files of a release to a folder."""
    with ThreadPoolExecutor(len(files)) as threads:
        resources = tuple(threads.map(lambda file: _stored(file, folder, format), files))
    manifest = Manifest(name=slug(promise.table), resources=resources, discreet=promise, **about)
    (folder / NAME).write_text(in_json(manifest.to_json()), encoding="utf-8")
    if extend is not None:
        extended, file = extend(folder)
        resources = (*resources, _stored(file, folder, format))
        manifest = Manifest(name=slug(promise.table), resources=resources, discreet=extended, **about)
        (folder / NAME).write_text(in_json(manifest.to_json()), encoding="utf-8")
    for name, text in {readme.NAME: readme.readme(manifest), **portals.texts(manifest)}.items():
        (folder / name).write_text(text, encoding="utf-8")
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


def _stored(file: FileToWrite, folder: Path, format: Literal["parquet", "csv"]) -> Resource:
    path = folder / f"{file.name}.{format}"
    file.store(path)
    size = path.stat().st_size if format == "csv" else None
    table = _called(file.table, path) if format == "parquet" else file.table
    return Resource(name=file.name, path=path.name, format=format, bytes=size, hash=digest(path), table=table)


def _called(table: TableSpec, path: Path) -> TableSpec:
    """The columns of a Parquet file, as its manifest calls them; see `FieldSpec`."""
    about = pq.read_metadata(path)
    parts = (about.row_group(i).column(j) for i in range(about.num_row_groups) for j in range(about.num_columns))
    missing = {part.path_in_schema for part in parts if part.statistics is None or part.statistics.null_count != 0}

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
            _remove(folder.path, watch)
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
        with suppress(DiscreetError):  # then it stays, for whoever watches to find
            watch.withdrawn(folder)
            shutil.rmtree(folder, ignore_errors=True)


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
