"""What the schema of a release has beside its rows: a manifest, keys, links and comments; and that it is verified."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import Any

import pyarrow as pa

from discreet.engines import Address, session_in, store_of
from discreet.release import readme
from discreet.release.beside import prepare, tables_of
from discreet.release.database.files import TABLE
from discreet.release.layouts import layout_of
from discreet.release.manifest import NAME, Manifest, Promise, Resource, TableSpec, slug
from discreet.release.verify.tables import check_tables
from discreet.visible import in_json


def of_tables(promise: Promise, tables: Mapping[str, TableSpec], about: Mapping[str, Any]) -> Manifest:
    """The manifest of a release that is made in a server: until files are made, tables have names and no digests."""
    resources = tuple(
        Resource(name=name, path=f"{name}.parquet", format="parquet", hash=TABLE + secrets.token_hex(16), table=spec)
        for name, spec in tables.items()
    )
    return Manifest(name=slug(promise.table), resources=resources, discreet=promise, **about)


def finish(connection: Any, address: Address, manifest: Manifest, held: pa.Table | None) -> None:
    """Add all but rows to the tables of a release, in the transaction that makes them, and verify them there.

    `held` are the rows of `st`, if it has one: how many rows of each group hold each value, ordered by both.
    """
    store = store_of(address)
    texts = {NAME: in_json(manifest.to_json()), readme.NAME: readme.readme(manifest)}
    prepare(connection, address.name, manifest, held)
    store.complete(
        connection,
        address.name,
        links(store, manifest, lambda _, columns: columns == [manifest.discreet.row], known=True),
        different(manifest),
        comments(store, manifest),
        [(name, 0, text.encode()) for name, text in texts.items()],
    )
    check_tables(session_in(connection, tables_of(address.name, manifest)), manifest.discreet)


def links(
    store: ModuleType, manifest: Manifest, unique: Callable[[str, list[str]], bool], *, known: bool = False
) -> list[Any]:
    """What points to what; groups have all numbers up to the last, if that is `known`, or is verified afterwards."""

    def link_to(here: tuple[str, Sequence[str]], other: str, columns: list[str]) -> Any:
        last = manifest.discreet.groups if known and columns == [manifest.discreet.group] else None
        return store.Link(*here, other, columns, unique(other, columns), last)

    return [
        link_to((each.name, link.fields), link.reference.resource, [*link.reference.fields])
        for each in manifest.resources
        for link in each.table.foreign_keys or ()
    ]


def different(manifest: Manifest) -> dict[str, Sequence[str]]:
    """Of every table the columns in which no two rows agree, where there are any."""
    orders = layout_of(manifest.discreet).orders(manifest.discreet)
    there = {each.name for each in manifest.resources}
    return {files[0]: columns for files, columns, strict in orders if strict and len(files) == 1 and files[0] in there}


def comments(store: ModuleType, manifest: Manifest) -> dict[str, str]:
    """What the schema and its tables are, under "" and by name."""
    promise = manifest.discreet
    about = f"{promise.publication} by {promise.partition}, {promise.told()}; {promise.about}"
    of_tables = {
        each.name: f"{each.pattern} of the release; see README.md in {store.FILES}" for each in manifest.resources
    }
    return {"": f"discreet release of `{promise.table}`: {about}", **of_tables}
