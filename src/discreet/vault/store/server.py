"""The schema of a vault in a PostgreSQL server: the tables of the file, the same statements, and writers who wait.

Only the role that made it may open it, and those who belong to that role. The server makes every transaction whole,
whoever is killed, and its lock lets one command write at a time: the next one waits until it has ended.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any

from discreet.engines import Address, ledger_of
from discreet.errors import EngineError, ReleaseError, VaultError
from discreet.vault.store.schema import busy, check_version, statements

KIND, VERSION = "kind", "version"  # what is noted of a vault, as a file has it in its header
VAULT = "discreet vault"
# What statements are in the words of the server. What may be anything has a column for each kind of it.
WORDS = {
    "(key TEXT PRIMARY KEY, value)": "(key TEXT PRIMARY KEY, number INTEGER, word TEXT, content BLOB)",
    " WITHOUT ROWID": "",
    " INDEXED BY rows_unpublished": "",
    "CROSS JOIN": "JOIN",
    "SELECT value FROM json_each(?)": "SELECT CAST(value AS bigint) FROM jsonb_array_elements_text(?)",
    "WHERE changed": "WHERE changed <> 0",
    "WHERE waiting": "WHERE waiting <> 0",
}
KINDS = {int: "number", str: "word", bytes: "content"}


class InServer:
    """The open database of a vault that is a schema of a server."""

    shared = True

    def __init__(self, address: Address) -> None:
        self.place = address
        with _translating():
            self._ledger = ledger_of(address).opened(address)
        try:
            self._check_vault()
            self._check_private()
        except BaseException:
            self._ledger.close()
            raise

    @staticmethod
    def create(address: Address, policy: str, meta: Mapping[str, Any], *, version: int) -> None:  # noqa: ARG004
        """Make a schema with an empty vault, all at once or not at all."""
        noted = {**meta, KIND: VAULT, VERSION: version}

        def fill(ledger: Any) -> None:
            for key, value in noted.items():
                _note(ledger, key, value)

        with _translating():
            ledger_of(address).create(address, map(written, statements(version)), fill)

    def _check_vault(self) -> None:
        with _translating():
            may = self._ledger.may_be_read()
            if may is None:
                raise VaultError(f"there is no vault `{self.place}`", hint="make one with `discreet vault init`")
            if not may:
                raise VaultError(
                    f"the vault `{self.place}` is not yours to open",
                    hint="connect as the role that made it, or as one that belongs to it",
                )
            if not self._ledger.has("meta"):
                raise VaultError(f"`{self.place}` is not a vault, but another schema", hint="look at its name")
        if self.meta(KIND) != VAULT:
            raise VaultError(f"`{self.place}` is not a vault: its tables were not made by discreet")
        check_version(self.place, self.meta(VERSION))

    def _check_private(self) -> None:
        """Raise if a role that does not belong to the owner's may read or change anything of it."""
        with _translating():
            others = self._ledger.others()
        if others:
            names = ", ".join(f"`{name}`" for name in others)
            raise VaultError(
                f"a vault must be its owner's alone: {names} may read or change some of `{self.place}`",
                hint="run `REVOKE ALL ON SCHEMA … FROM …` and `REVOKE ALL ON ALL TABLES IN SCHEMA … FROM …`, and"
                " consider what they could read until now",
            )

    @contextmanager
    def sole_writer(self, *, wait: bool = True) -> Iterator[None]:
        with _translating():
            if not self._ledger.lock(wait=wait):
                raise busy(self.place)
        try:
            yield
        finally:
            self._ledger.unlock()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        with _translating():
            self._ledger.begin()
        try:
            yield
            with _translating():
                self._ledger.commit()
        finally:
            self._ledger.rollback()

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        with _translating():
            self._ledger.begin(snapshot=True)
        try:
            yield
        finally:
            self._ledger.rollback()

    def rows(self, statement: str, values: Sequence[Any] = ()) -> list[Any]:
        with _translating():
            return list(self._ledger.rows(written(statement), values))

    def parts(self, statement: str) -> Iterator[list[Any]]:
        found = self._ledger.parts(written(statement))
        while True:
            with _translating():
                part = next(found, None)
            if part is None:
                return
            yield part

    def one(self, statement: str, values: Sequence[Any] = ()) -> Any:
        with _translating():
            return self._ledger.one(written(statement), values)

    def run(self, statement: str, values: Sequence[Any] = ()) -> None:
        with _translating():
            self._ledger.run(written(statement), values)

    def run_many(self, statement: str, values: Iterable[Sequence[Any]]) -> None:
        with _translating():
            self._ledger.run_many(written(statement), values)

    def meta(self, key: str) -> Any:
        found = self.one("SELECT COALESCE(number, 0), word, content, number IS NULL FROM meta WHERE key = ?", (key,))
        if found is None:
            return None
        number, word, content, other = found
        return (content if word is None else word) if other else number

    def set_meta(self, key: str, value: Any) -> None:
        with _translating():
            _note(self._ledger, key, value)

    def policy(self) -> str | None:
        """The one that is kept with the rows: there is no copy of it."""
        found: str | None = self.meta("policy")
        return found

    def holds(self, path: Path) -> bool:  # noqa: ARG002
        return False

    def close(self) -> None:
        self._ledger.close()


@lru_cache
def written(statement: str) -> str:
    """A statement of the file in the words of the server."""
    for words, instead in WORDS.items():
        statement = statement.replace(words, instead)
    return statement


def _note(ledger: Any, key: str, value: Any) -> None:
    ledger.run("DELETE FROM meta WHERE key = ?", (key,))
    ledger.run(f"INSERT INTO meta (key, {KINDS[type(value)]}) VALUES (?, ?)", (key, value))  # noqa: S608 - of ours


@contextmanager
def _translating() -> Iterator[None]:
    """The error of a vault for one of the server."""
    try:
        yield
    except (EngineError, ReleaseError) as error:
        raise VaultError(error.message, hint=error.hint) from None
