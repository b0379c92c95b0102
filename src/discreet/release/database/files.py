"""The files of a release in a database, read out when somebody needs them, and held against its tables.

Those of a release that was made in its server are made of its tables, always the same bytes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
from sqlglot import exp

from discreet.engines import Address, Engine, connect, store_of
from discreet.errors import ReleaseError, VerificationError
from discreet.release.beside import check_prepared
from discreet.release.layouts import LAYOUTS, manifest_fault
from discreet.release.layouts.file import column, named
from discreet.release.manifest import MOST, NAME, Manifest, Resource
from discreet.release.relations import load_files
from discreet.release.release import Release, open_release
from discreet.release.rows import store_rows
from discreet.release.write import FileToWrite, fill
from discreet.scratch import workplace

if TYPE_CHECKING:
    from discreet.engines.postgres.store import Stored

READ = "rows of the database"
TABLE = "table:"  # in the place of a digest, before what tells one table from others
PLAIN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_. -]*")  # names of files that a release may have


def manifest_of(stored: Stored) -> Manifest:
    """The manifest of a schema; raise if it is none that can be read."""
    if NAME not in stored.files() or len(content := stored.content(NAME)) > MOST:
        raise ReleaseError(f"the release `{stored.schema}` has no manifest that can be read")
    with workplace() as folder:
        (folder / NAME).write_bytes(content)
        manifest = Manifest.read(folder)
    if (strange := manifest_fault(manifest)) is not None:
        raise ReleaseError(f"the release `{stored.schema}` cannot be opened: {strange}", hint="upgrade discreet")
    return manifest


def in_tables(manifest: Manifest) -> bool:
    """Whether a release was made in a server, where files are made of its tables when they are needed."""
    return all(digest.startswith(TABLE) for resource in manifest.resources for digest in resource.digests)


def read_out(stored: Stored, folder: Path) -> None:
    """Write the files of a release to a folder; those of one that was made in its server are made now."""
    manifest = manifest_of(stored)
    if in_tables(manifest):
        _made(stored, folder, manifest)
        return
    for name in stored.files():
        if not PLAIN.fullmatch(name):
            raise VerificationError(f"the release `{stored.schema}` holds a file with a strange name")
        (folder / name).write_bytes(stored.content(name))


def _made(stored: Stored, folder: Path, manifest: Manifest) -> None:
    orders = {
        files[0]: order
        for files, order, _ in LAYOUTS[manifest.discreet.publication].orders(manifest.discreet)
        if len(files) == 1
    }
    rows = {each.name: stored.rows(each.name) for each in manifest.resources}

    def file(resource: Resource) -> FileToWrite:
        ordered = rows[resource.name].select(resource.table.names())
        return FileToWrite(
            resource.name, resource.table, lambda path: store_rows(ordered, path, order=orders[resource.name])
        )

    fill(folder, manifest.discreet, [*map(file, manifest.resources)], about=manifest.described)


@contextmanager
def in_folder(address: Address) -> Iterator[Path]:
    """The files of a release in a folder, for as long as something takes that reads them."""
    with workplace() as folder:
        inside = folder / "release"
        inside.mkdir()
        with store_of(address).opened(address) as stored:
            read_out(stored, inside)
            opened = open_release(inside)
            check(stored, opened)
            check_prepared(stored, opened.manifest)
        yield inside


def check(stored: Stored, release: Release) -> None:
    """Raise unless the tables hold the rows of the files, each as often, and the files are the same."""
    if in_tables(manifest_of(stored)):
        return  # the files were made of the tables just now
    wrong = VerificationError(
        f"the release `{stored.schema}` in the database is not what its files say",
        hint="drop the schema, and load the release again",
    )
    if stored.files() != sorted(path.name for path in release.path.iterdir()):
        raise wrong
    if any(stored.content(path.name) != path.read_bytes() for path in release.path.iterdir()):
        raise wrong
    with closing(connect(groups=release.promise.groups)) as engine:
        load_files(engine, release.path, release.manifest)
        for resource in release.manifest.resources:
            if not _same(engine, f"{resource.name} file", stored.rows(resource.name)):
                raise wrong


def _same(engine: Engine, name: str, rows: pa.Table) -> bool:
    """Whether rows are those of a relation, each as often, in whatever order the columns are."""
    schema = engine.schema(name)
    if sorted(rows.column_names) != sorted(schema.names):
        return False
    engine.load(READ, rows.select(schema.names).cast(schema), keep=False)
    columns = [column(each) for each in schema.names]
    pair = [exp.select(*(each.copy() for each in columns)).from_(named(each)) for each in (name, READ)]
    try:
        return all(
            not len(engine.run(exp.Except(this=one.copy(), expression=other.copy(), distinct=False)))
            for one, other in (pair, pair[::-1])
        )
    finally:
        engine.forget(READ)
