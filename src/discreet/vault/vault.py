"""A vault: every row of a growing table in a private place, and the door to appending to it and releasing it."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

import numpy as np
import pyarrow as pa

from discreet.engines import Address
from discreet.errors import InputError, InternalError, PolicyError, VaultError
from discreet.policy import Given, Policy
from discreet.release import Release
from discreet.table import Table, read
from discreet.vault import terms
from discreet.vault.doubts import of_policy
from discreet.vault.growth.append import append as grown
from discreet.vault.growth.divide import Codes
from discreet.vault.intake import Increment, check_lots, check_unknown, encoded, looked_at, quasi, whose
from discreet.vault.recover import recover, unfinished
from discreet.vault.release import make_release
from discreet.vault.status import Status, status
from discreet.vault.store.database import Database, create, opened
from discreet.vault.store.file import POLICY
from discreet.vault.store.store import VaultStore
from discreet.vault.tree.model import Rows
from discreet.warnings.checks import Warned, judged
from discreet.warnings.kinds import accept_mistakes


@dataclass(frozen=True, slots=True)
class Appended:
    """What became of new rows: how many there were, how many `joined` groups (older ones that waited among them).

    `waiting` is how many rows of the vault wait now, older ones that had joined groups but were never released among
    them; `withheld` rows had no sensitive value and were left out.
    """

    rows: int
    joined: int
    waiting: int
    withheld: int


class Vault:
    """An open vault. Only its owner can read it, a folder or a schema of a server; one process at a time can write.

    Killed at any moment, a vault is as it was before the command, or as after it.
    """

    def __init__(self, database: Database, policy: Policy) -> None:
        self.path, self.policy = database.place, policy
        self.warnings: Warned = ()  # of a vault that was just made
        self._database = database
        self._rule = terms.rule(policy)

    @classmethod
    def create(cls, place: str | Path | Address, policy: Given, *, strict: bool = False) -> Vault:
        """Make an empty vault for tables under `policy`, which `publish` would take; the folder must not exist.

        In the place of a folder, `postgresql://host/database#name` makes a schema of that name in a server.

        What is doubtful about the policy is warned about, unless it accepts that; if `strict`, no vault is made.
        """
        policy = Policy.of(policy)
        terms.check(policy)
        warned = judged(of_policy(policy), policy, strict=strict)
        text = terms.to_text(policy)
        sequence = secrets.token_hex(16)  # drawn, not derived: every release shows it
        about = {"policy": text, "policy_digest": terms.digest(text), "sequence": sequence}
        create(place, text, about, version=terms.version(policy))
        vault = cls.open(place)
        vault.warnings = warned
        return vault

    @classmethod
    def open(cls, place: str | Path | Address) -> Vault:
        """Open a vault, a folder or `postgresql://host/database#name`; raise if others than its owner could."""
        database = opened(place)
        try:
            return cls(database, _policy(database))
        except BaseException:
            database.close()
            raise

    def append(self, table: Any, *, progress: Callable[[str], None] = lambda _: None) -> Appended:
        """Take in the rows of a table (a `Table`, or anything that `read` takes): all of them, or none.

        Rows join groups where that tells no more than each release alone; the others wait.
        """
        if not isinstance(table, Table):
            progress("reading")
            schema = self._schema()
            texts = [] if schema is None else [field.name for field in schema if pa.types.is_string(field.type)]
            with read(table, texts=texts, csv=self.policy.csv, excel=self.policy.excel) as rows:
                return self.append(rows, progress=progress)
        with self._writing():
            schema = self._schema()
            increment = looked_at(table, self.policy, schema)
            progress("appending")
            with self._database.transaction():
                if schema is None:
                    schema = increment.rows.schema
                    self._database.set_meta("schema", schema.serialize().to_pybytes())
                return self._taken_in(increment, self._store(schema))

    def _taken_in(self, increment: Increment, store: VaultStore) -> Appended:
        """Place new rows and keep them; inside a transaction."""
        database = self._database
        if self._rule.lots is None:
            check_unknown(increment, store, self.policy.identifiers)
        else:
            check_lots(increment, store, self.policy.person or "", self._rule.lots)
        points, sensitive = encoded(increment, store, self.policy)
        number = database.one("SELECT COALESCE(MAX(number), 0) + 1 FROM appends")[0]
        first = database.meta("next_row") or 1
        ids = np.arange(first, first + increment.size, dtype=np.int64)
        since = np.full(increment.size, number, np.int64)
        new = Rows(ids, points, sensitive, since, np.zeros(increment.size, np.bool_))
        waited = self._waiting()
        changes = grown(store, new, self._rule, self._people(store, new, increment))
        if not np.isin(ids, changes.placed.ids).all():
            raise InternalError("a row was given no place; the vault is as it was")
        store.save(changes, new, increment.keys)
        database.set_meta("next_row", first + increment.size)
        waiting = self._waiting()
        joined = max(waited + increment.size - waiting, 0)
        time = datetime.now(UTC).isoformat(timespec="seconds")
        database.run("INSERT INTO appends VALUES (?, ?, ?, ?)", (number, time, increment.size, joined))
        return Appended(increment.size, joined, waiting, increment.withheld)

    def _people(self, store: VaultStore, new: Rows, increment: Increment) -> Codes | None:
        """Whose each row of the lot is, with the new ones last, where a person may have several."""
        if self._rule.lots is None or increment.keys is None:
            return None
        keys = pa.chunked_array([*store.unpublished_keys().chunks, *increment.keys.chunks], pa.string())
        return whose(keys, np.concatenate([store.unpublished().points, new.points]), self.policy)

    def _waiting(self) -> int:
        found: int = self._database.one("SELECT COUNT(*) FROM rows WHERE member = 0 AND published IS NULL")[0]
        return found

    def release(
        self,
        to: str | Path,
        *,
        earlier: Sequence[str | Path] = (),
        strict: bool = False,
        progress: Callable[[str], None] = lambda _: None,
    ) -> Release:
        """Publish all groups as they are now as the folder `to`, if that opens no channel with any earlier release.

        Earlier releases must be where they were made, or in folders (or be folders) given as `earlier`. What is
        doubtful is warned about as by `publish`, unless the policy accepts it; if `strict`, it stops the release.
        `progress` is told each of the steps as it starts.
        """
        with self._writing():
            schema = self._schema()
            if schema is None:
                raise InputError("the vault has no rows", hint="append some first")
            places = [Path(place) for place in earlier]
            store = self._store(schema)
            self._complete_lot(store)
            return make_release(
                *(store, self.policy, self._rule, schema),
                to=Path(to),
                earlier=places,
                strict=strict,
                progress=progress,
            )

    def accept(self, name: str, reason: str) -> None:
        """Accept a warning by its name, for all releases to come; the vault keeps the reason beside its policy."""
        if found := list(accept_mistakes({name: reason})):
            raise PolicyError(found, source="what was to be accepted")
        with self._writing(), self._database.transaction():
            known = json.loads(self._database.meta("accepted") or "{}")
            self._database.set_meta("accepted", json.dumps({**known, name: reason}, ensure_ascii=False))
        self.policy = _policy(self._database)

    def _complete_lot(self, store: VaultStore) -> None:
        """Let nobody miss a release, as some would in a vault that an older version appended to last."""
        if self._rule.growth == "settle" and store.changed() and self._waiting():
            nobody = store.unpublished().some(np.zeros(0, np.int64))
            with self._database.transaction():
                store.save(grown(store, nobody, self._rule), nobody, None)

    def status(self) -> Status:
        """How the vault stands: for its steward only."""
        schema = self._schema()
        store = self._store(schema)
        if unfinished(store):
            with suppress(VaultError), self._writing(wait=False):  # unless another process is at it
                pass
        with self._database.snapshot():
            return status(store, self.policy)

    def close(self) -> None:
        """Let go of the vault."""
        self._database.close()

    @contextmanager
    def _writing(self, *, wait: bool = True) -> Iterator[None]:
        """Be the only writer, of a vault whose policy is the one it was made with and whose releases are whole."""
        with self._database.sole_writer(wait=wait):
            _policy(self._database)
            recover(self._store(self._schema()))
            yield

    def _schema(self) -> pa.Schema | None:
        """The types of the columns, once there are rows."""
        found = self._database.meta("schema")
        return None if found is None else pa.ipc.read_schema(pa.BufferReader(found))

    def _store(self, schema: pa.Schema | None) -> VaultStore:
        return VaultStore(self._database, [] if schema is None else quasi(self.policy, schema))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Vault {self.path}>"


def _policy(database: Database) -> Policy:
    """The policy that the vault was made with; raise if anybody has changed it since."""
    text, name = database.meta("policy"), database.meta("policy_digest")
    if not isinstance(text, str) or terms.digest(text) != name or database.policy() != text:
        where = "" if database.shared else f": see `{POLICY}`"
        raise VaultError(
            f"the policy of the vault `{database.place}` was changed since it was made{where}",
            hint="what was released was promised under the old one: put it back as it was, or begin a new vault",
        )
    policy, since = terms.of_text(text), json.loads(database.meta("accepted") or "{}")
    return replace(policy, accept={**policy.accept, **since})
