"""The database of a vault, wherever it is: a file of its own, or a schema of a server."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol

from discreet.engines import Address
from discreet.errors import VaultError
from discreet.vault.store.file import InFile
from discreet.vault.store.server import InServer


class Database(Protocol):
    """An open database. Statements are in the words of SQLite, which is the file's; a server has its own for them.

    A `shared` one is open to several machines, which may not see each other's folders.
    """

    shared: bool

    @property
    def place(self) -> Path | Address: ...

    def sole_writer(self, *, wait: bool = True) -> AbstractContextManager[None]:
        """Keep all other writers out for a whole command: from a file they are sent away, in a server they `wait`."""

    def transaction(self) -> AbstractContextManager[None]:
        """All that is written inside, or nothing of it."""

    def snapshot(self) -> AbstractContextManager[None]:
        """All that is read inside is of one moment."""

    def rows(self, statement: str, values: Sequence[Any] = ()) -> list[Any]: ...

    def parts(self, statement: str) -> Iterator[list[Any]]:
        """All rows, some at a time; none is empty."""

    def one(self, statement: str, values: Sequence[Any] = ()) -> Any:
        """The only row there is, or None."""

    def run(self, statement: str, values: Sequence[Any] = ()) -> None: ...

    def run_many(self, statement: str, values: Iterable[Sequence[Any]]) -> None: ...

    def meta(self, key: str) -> Any:
        """What is noted under a name: a number, a text or bytes; or None."""

    def set_meta(self, key: str, value: Any) -> None: ...

    def policy(self) -> str | None:
        """The text of the policy as its steward can see it, or None if there is none."""

    def holds(self, path: Path) -> bool:
        """Whether something at this path would be inside the vault."""

    def close(self) -> None: ...


def create(place: str | Path | Address, policy: str, meta: Mapping[str, Any], *, version: int) -> None:
    """Make an empty vault of a version (see `schema.py`) where nothing is, all at once."""
    home = place_of(place)
    (InServer if isinstance(home, Address) else InFile).create(home, policy, meta, version=version)  # type: ignore[arg-type]


def opened(place: str | Path | Address) -> Database:
    """Open a vault; raise if others than its owner could."""
    home = place_of(place)
    return InServer(home) if isinstance(home, Address) else InFile(home)


def place_of(place: str | Path | Address) -> Path | Address:
    """A folder, or the schema of a database."""
    address = Address.of(place)
    if address is None:
        return Path(place)  # type: ignore[arg-type]
    if address.release is None:
        raise VaultError(
            "the vault in the database is not named",
            hint="add its name to the URL: postgresql://host/database#patients_vault",
        )
    return address
