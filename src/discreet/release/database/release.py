"""A release that is asked in its server; what reads files reads them out first, into a folder that goes with it."""

from __future__ import annotations

import weakref
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.engines import Address, Engine, connect_to, store_of
from discreet.errors import VerificationError
from discreet.release.beside import prepared, tables_of
from discreet.release.database import questions
from discreet.release.database.files import in_tables, manifest_of, read_out
from discreet.release.manifest import Manifest
from discreet.release.release import Release, damaged
from discreet.scratch import temporary


class InDatabase(Release):
    """A release that is asked in its server; whoever reads `path` has its files read out."""

    def __init__(
        self,
        address: Address,
        manifest: Manifest,
        memory_limit: str | None = None,
        beside: Mapping[str, tuple[str, str]] | None = None,
    ) -> None:
        values = {"manifest": manifest, "memory_limit": memory_limit, "address": address, "_beside": beside or {}}
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

    @property
    def beside(self) -> Mapping[str, tuple[str, str]]:
        return self._beside

    def attached(self, memory_limit: str | None) -> Engine:  # noqa: ARG002
        return connect_to(self.address, {**tables_of(self.address.name, self.manifest), **self.beside})

    def look(self) -> object:
        """Schemas of releases are not written to: what is asked is one snapshot of each table."""
        return None

    def store(self, question: str, *, name: str) -> str:
        return questions.store(self, question, name)

    def stored(self) -> dict[str, str]:
        return questions.stored(self.address)

    def forget(self, name: str) -> None:
        questions.forget(self.address, name)

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
        _beside: Mapping[str, tuple[str, str]]


def open_stored(address: Address, *, memory_limit: str | None = None) -> Release:
    """Open a release in a database."""
    with store_of(address).opened(address) as stored:
        manifest = manifest_of(stored)
        columns = {table: set(stored.columns(table)) for table in stored.tables()}
    for resource in manifest.resources:
        if columns.get(resource.name) != set(resource.table.names()):
            raise VerificationError(
                f"the table `{resource.name}` of the release `{address.name}` is not the one that was published",
                hint="drop the schema, and load the release again",
            )
    return InDatabase(address, manifest, memory_limit, prepared(address.name, columns))
