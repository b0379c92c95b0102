"""Releases that live in a database: a schema of its own, with the tables, their keys, the manifest and every file.

What needs rows as they are asked stays in the server; what reads files reads them out first, into a private folder
that is gone when the release is closed.
"""

from __future__ import annotations

import re
import secrets
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from sqlglot import exp

from discreet.engines import Address, Engine, connect, connect_to, session_in, store_of
from discreet.errors import ReleaseError, VerificationError
from discreet.release import readme
from discreet.release.beside import check_prepared, prepare, prepared, tables_of
from discreet.release.layouts import LAYOUTS, layout_of, manifest_fault
from discreet.release.layouts.file import column, named
from discreet.release.manifest import MOST, NAME, Manifest, Promise, Resource, TableSpec, slug
from discreet.release.relations import load_files, loaded
from discreet.release.release import Release, damaged, open_release
from discreet.release.rows import store_rows
from discreet.release.verify.tables import check_tables
from discreet.release.write import FileToWrite, fill
from discreet.scratch import temporary, workplace
from discreet.visible import in_json

if TYPE_CHECKING:
    from discreet.engines.postgres.store import Stored

READ = "rows of the database"
TABLE = "table:"  # in the place of a digest, before what tells one table from others
PLAIN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_. -]*")  # names of files that a release may have


class InDatabase(Release):
    """A release that is asked in its server; whoever reads `path` has its files read out."""

    def __init__(
        self,
        address: Address,
        manifest: Manifest,
        memory_limit: str | None = None,
        beside: Mapping[str, tuple[str, str]] | None = None,
    ) -> None:
        values = {"manifest": manifest, "memory_limit": memory_limit, "address": address, "beside": beside or {}}
        self.__dict__.update(values, withheld=0, suppressed=0, warnings=())

    @cached_property
    def path(self) -> Path:
        """The folder of its files, which are read out once, and checked."""
        folder = temporary()
        self.__dict__["_removed"] = weakref.finalize(self, folder.remove)
        with store_of(self.address).opened(self.address) as stored:
            read_out(stored, folder.path)
        damaged(folder.path, Manifest.read(folder.path) if in_tables(self.manifest) else self.manifest)
        return folder.path

    def attached(self, memory_limit: str | None) -> Engine:  # noqa: ARG002
        return connect_to(self.address, {**tables_of(self.address.name, self.manifest), **self.beside})

    def look(self) -> object:
        """Schemas of releases are not written to: what is asked is one snapshot of each table."""
        return None

    @property
    def in_files(self) -> bool:
        return False

    def close(self) -> None:
        super().close()
        if (removed := self.__dict__.pop("_removed", None)) is not None:
            self.__dict__.pop("path", None)
            removed()

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)

    if TYPE_CHECKING:
        address: Address
        beside: Mapping[str, tuple[str, str]]


def open_stored(address: Address, *, memory_limit: str | None = None) -> Release:
    """Open a release in a database."""
    with store_of(address).opened(address) as stored:
        manifest = _manifest(stored)
        columns = {table: set(stored.columns(table)) for table in stored.tables()}
    for resource in manifest.resources:
        if columns.get(resource.name) != set(resource.table.names()):
            raise VerificationError(
                f"the table `{resource.name}` of the release `{address.name}` is not the one that was published",
                hint="drop the schema, and load the release again",
            )
    return InDatabase(address, manifest, memory_limit, prepared(address.name, columns))


def load(
    release: Release | str | Path,
    to: str | Address,
    *,
    name: str | None = None,
    grant: Sequence[str] = (),
    progress: Callable[[str], None] = lambda _: None,
) -> Release:
    """Put a release into a database under a name of its own, visible at once or not at all; it is verified before.

    Roles that it is granted to may read it, and nobody else but its owner.
    """
    from discreet.release.verify import verify_alone

    address = _address(to, name)
    with _opened(release) as opened:
        progress("verifying")
        report = verify_alone(opened.path)
        if not report.ok:
            broken = "; ".join(f"{check.name}: {check.detail}" for check in report.failures)
            raise VerificationError(f"the release was not loaded because it does not verify: {broken}")
        progress("loading")
        return put(opened, address, grant=grant)


def put(release: Release, address: Address, *, grant: Sequence[str] = ()) -> Release:
    """Put a release that has verified into a database."""
    store, manifest = store_of(address), release.manifest
    with loaded(release) as engine:
        files = {each.name: exp.select("*").from_(named(f"{each.name} file")) for each in manifest.resources}
        tables = {name: engine.run(query) for name, query in files.items()}
    store.keep(
        address,
        {path.name: path for path in sorted(release.path.iterdir())},
        tables,
        links=_links(store, manifest, lambda table, columns: _unique(tables[table].select(columns))),
        unique=_different(manifest),
        comments=_comments(store, manifest),
        grant=grant,
        prepare=lambda connection: prepare(connection, address.name, manifest),
        check=lambda stored: _check(stored, release),
    )
    found = open_stored(address)
    known = ("withheld", "suppressed", "warnings")  # where it was just published
    found.__dict__.update({each: getattr(release, each) for each in known})
    return found


def _links(store: ModuleType, manifest: Manifest, unique: Callable[[str, list[str]], bool]) -> list[Any]:
    return [
        store.Link(each.name, link.fields, *(to := (link.reference.resource, [*link.reference.fields])), unique(*to))
        for each in manifest.resources
        for link in each.table.foreign_keys or ()
    ]


def _different(manifest: Manifest) -> dict[str, Sequence[str]]:
    """Of every table the columns in which no two rows agree, where there are any."""
    orders = layout_of(manifest.discreet).orders(manifest.discreet)
    there = {each.name for each in manifest.resources}
    return {files[0]: columns for files, columns, strict in orders if strict and len(files) == 1 and files[0] in there}


def _unique(rows: pa.Table) -> bool:
    return bool(rows.group_by(rows.column_names).aggregate([]).num_rows == len(rows))


def _comments(store: ModuleType, manifest: Manifest) -> dict[str, str]:
    """What the schema and its tables are, under "" and by name."""
    promise = manifest.discreet
    about = f"{promise.publication} by {promise.partition}, {promise.told()}; {promise.about}"
    of_tables = {
        each.name: f"{each.path} of the release; see README.md in {store.FILES}" for each in manifest.resources
    }
    return {"": f"discreet release of `{promise.table}`: {about}", **of_tables}


def of_tables(promise: Promise, tables: Mapping[str, TableSpec], about: Mapping[str, Any]) -> Manifest:
    """The manifest of a release that is made in a server: until files are made, tables have names and no digests."""
    resources = tuple(
        Resource(name=name, path=f"{name}.parquet", format="parquet", hash=TABLE + secrets.token_hex(16), table=spec)
        for name, spec in tables.items()
    )
    return Manifest(name=slug(promise.table), resources=resources, discreet=promise, **about)


def in_tables(manifest: Manifest) -> bool:
    """Whether a release was made in a server, where files are made of its tables when they are needed."""
    return all(resource.hash.startswith(TABLE) for resource in manifest.resources)


def finish(connection: Any, address: Address, manifest: Manifest) -> None:
    """Add all but rows to the tables of a release, in the transaction that makes them, and verify them there."""
    store = store_of(address)
    texts = {NAME: in_json(manifest.to_json()), readme.NAME: readme.readme(manifest)}
    prepare(connection, address.name, manifest)
    store.complete(
        connection,
        address.name,
        _links(store, manifest, lambda _, columns: columns == [manifest.discreet.row]),
        _different(manifest),
        _comments(store, manifest),
        [(name, 0, text.encode()) for name, text in texts.items()],
    )
    check_tables(session_in(connection, tables_of(address.name, manifest)), manifest.discreet)


def check_place(address: Address, grant: Sequence[str] = ()) -> None:
    """Raise if a release cannot be put there, before it is made."""
    store_of(address).check_place(address, grant)


def dump(source: str | Address, to: str | Path, *, name: str | None = None) -> Release:
    """Write a release of a database to a folder, byte by byte as it was loaded; verified before it appears."""
    from discreet.release.verify import verify_alone
    from discreet.release.write import SILENT, free, hidden, reveal, settle

    address, target = _address(source, name), Path(to)
    free(target)
    with hidden(target, SILENT) as folder:
        with store_of(address).opened(address) as stored:
            read_out(stored, folder)
            opened = open_release(folder)
            _check(stored, opened)
            check_prepared(stored, opened.manifest)
        report = verify_alone(folder)
        if not report.ok:
            broken = "; ".join(f"{check.name}: {check.detail}" for check in report.failures)
            raise VerificationError(f"the release was not written because it does not verify: {broken}")
        settle(folder)
        reveal(folder, target)
    return open_release(target)


def read_out(stored: Stored, folder: Path) -> None:
    """Write the files of a release to a folder; those of one that was made in its server are made now."""
    manifest = _manifest(stored)
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
            _check(stored, opened)
            check_prepared(stored, opened.manifest)
        yield inside


def _address(place: str | Address, name: str | None) -> Address:
    found = Address.of(place, name)
    if found is None:
        raise ReleaseError(
            "that is not the URL of a database",
            hint="write it as postgresql://user@host/database, and name the release",
        )
    return found


def _opened(release: Release | str | Path) -> Any:
    return release if isinstance(release, Release) else open_release(release)


def _manifest(stored: Stored) -> Manifest:
    if NAME not in stored.files() or len(content := stored.content(NAME)) > MOST:
        raise ReleaseError(f"the release `{stored.schema}` has no manifest that can be read")
    with workplace() as folder:
        (folder / NAME).write_bytes(content)
        manifest = Manifest.read(folder)
    if (strange := manifest_fault(manifest)) is not None:
        raise ReleaseError(f"the release `{stored.schema}` cannot be opened: {strange}", hint="upgrade discreet")
    return manifest


def _check(stored: Stored, release: Release) -> None:
    """Raise unless the tables hold the rows of the files, each as often, and the files are the same."""
    if in_tables(_manifest(stored)):
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
    """Whether rows are those of a relation, each as often."""
    schema = engine.schema(name)
    if rows.column_names != schema.names:
        return False
    engine.load(READ, rows.cast(schema), keep=False)
    columns = [column(each) for each in schema.names]
    pair = [exp.select(*(each.copy() for each in columns)).from_(named(each)) for each in (name, READ)]
    try:
        return all(
            not len(engine.run(exp.Except(this=one.copy(), expression=other.copy(), distinct=False)))
            for one, other in (pair, pair[::-1])
        )
    finally:
        engine.forget(READ)
