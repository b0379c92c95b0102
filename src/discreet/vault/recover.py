"""Finish or take back a release that was under way when its process ended.

A release that is noted as *begun* was never shown: its hidden folder goes. One that is *intended* was safe on disk:
it is there under its name, or gets it now, and is noted as done; only if its folder is gone is it forgotten.
Claim: recovery_is_before_or_after — whenever a command is killed, the next one finds all of it done, or nothing.
"""

from __future__ import annotations

import shutil
from contextlib import suppress
from pathlib import Path

from discreet.errors import ReleaseError
from discreet.release.manifest import NAME
from discreet.release.release import digest
from discreet.release.verify import verify_alone
from discreet.release.write import reveal
from discreet.vault.store import VaultStore


def recover(store: VaultStore) -> None:
    """Leave no release half made; the caller is the only writer."""
    unfinished = "SELECT number, status, hidden, path, digest FROM releases WHERE status <> 'done'"
    for number, status, hidden, path, name in store.database.rows(unfinished):
        if status == "intended" and _there(Path(hidden), Path(path), name):
            complete(store, number)
        else:
            shutil.rmtree(hidden, ignore_errors=True)
            _forget(store, number)


def unfinished(store: VaultStore) -> bool:
    """Whether there is anything to recover."""
    return store.database.one("SELECT 1 FROM releases WHERE status <> 'done'") is not None


def complete(store: VaultStore, number: int) -> None:
    """Note that a release is there for all to see."""
    with store.database.transaction():
        store.settle(number)
        store.database.run("UPDATE releases SET status = 'done', hidden = NULL WHERE number = ?", (number,))


def _forget(store: VaultStore, number: int) -> None:
    with store.database.transaction():
        store.forget(number)
        store.database.run("DELETE FROM releases WHERE number = ?", (number,))


def _there(hidden: Path, path: Path, name: str) -> bool:
    """Whether a release stands under its name, if need be because it is given that now."""
    # a folder whose removal was cut short still has its manifest, but does not verify
    with suppress(ReleaseError, OSError):  # the name may be taken meanwhile
        if not _is(path, name) and _is(hidden, name) and verify_alone(hidden).ok:
            reveal(hidden, path)
    return _is(path, name)


def _is(folder: Path, name: str) -> bool:
    try:
        return digest(folder / NAME) == name
    except OSError:
        return False
