"""Move a release into a database and back: visible at once or not at all, and byte by byte the same."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
from sqlglot import exp

from discreet.engines import Address, store_of
from discreet.errors import ReleaseError, VerificationError
from discreet.release.beside import check_prepared, prepare
from discreet.release.database.files import check, read_out
from discreet.release.database.release import open_stored
from discreet.release.database.tables import comments, different, links
from discreet.release.layouts.file import column, named
from discreet.release.relations import loaded
from discreet.release.release import Release, open_release


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
        group = manifest.discreet.group  # comes first: a server goes through all columns before the one it looks for
        tables = {
            each.name: engine.run(
                exp.select(*map(column, sorted(each.table.names(), key=lambda name: name != group))).from_(
                    named(f"{each.name} file")
                )
            )
            for each in manifest.resources
        }
    store.keep(
        address,
        {path.name: path for path in sorted(release.path.iterdir())},
        tables,
        links=links(store, manifest, lambda table, columns: _unique(tables[table].select(columns))),
        unique=different(manifest),
        comments=comments(store, manifest),
        grant=grant,
        prepare=lambda connection: prepare(connection, address.name, manifest),
        check=lambda stored: check(stored, release),
    )
    found = open_stored(address)
    known = ("withheld", "suppressed", "warnings")  # where it was just published
    found.__dict__.update({each: getattr(release, each) for each in known})
    return found


def check_place(address: Address, grant: Sequence[str] = ()) -> None:
    """Raise if a release cannot be put there, before it is made."""
    store_of(address).check_place(address, grant)


def check_columns(address: Address, names: Iterable[str]) -> None:
    """Raise if a release with such columns cannot be put there."""
    store_of(address).check_columns(names)


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
            check(stored, opened)
            check_prepared(stored, opened.manifest)
        report = verify_alone(folder)
        if not report.ok:
            broken = "; ".join(f"{check.name}: {check.detail}" for check in report.failures)
            raise VerificationError(f"the release was not written because it does not verify: {broken}")
        settle(folder)
        reveal(folder, target)
    return open_release(target)


def _unique(rows: pa.Table) -> bool:
    return bool(rows.group_by(rows.column_names).aggregate([]).num_rows == len(rows))


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
