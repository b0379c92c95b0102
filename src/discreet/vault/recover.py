"""Finish or take back a release that was under way when its process ended.

A release that is noted as *begun* was never shown: its hidden folder goes. One that is *intended* was safe on disk.
Only getting its name makes its hidden folder go, so if that is gone, the release was shown, wherever it is now, and is
noted as done. If it is still there, the release gets its name now; if it cannot, because the name was taken or the
folder damaged, it was never shown: first the intent is taken back, and then the folder goes.
Claim: recovery_is_before_or_after — whenever a command is killed, the next one finds all of it done, or nothing.
Claim: a_release_that_was_shown_is_recorded — even if it was moved away before the next command.
"""

from __future__ import annotations

import shutil
from contextlib import suppress
from pathlib import Path

from discreet.errors import ReleaseError, VaultError
from discreet.release.chain import identity
from discreet.release.verify import verify_alone
from discreet.release.write import reveal
from discreet.vault.store.store import VaultStore


def recover(store: VaultStore) -> None:
    """Leave no release half made; the caller is the only writer."""
    unfinished = "SELECT number, status, hidden, path, digest FROM releases WHERE status <> 'done'"
    for number, status, hidden, path, name in store.database.rows(unfinished):
        shown = status == "intended" and _shown(Path(hidden), Path(path), name)
        if status == "intended" and not shown:
            withdraw(store, number)
        shutil.rmtree(hidden, ignore_errors=True)
        if shown:
            complete(store, number)
        else:
            _forget(store, number)


def unfinished(store: VaultStore) -> bool:
    """Whether there is anything to recover."""
    return store.database.one("SELECT 1 FROM releases WHERE status <> 'done'") is not None


def complete(store: VaultStore, number: int) -> None:
    """Note that a release is there for all to see."""
    with store.database.transaction():
        store.mark_released(number)
        store.database.run("UPDATE releases SET status = 'done', hidden = NULL WHERE number = ?", (number,))


def withdraw(store: VaultStore, number: int) -> None:
    """Note that a release is not to be shown after all; only then may its hidden folder go."""
    with store.database.transaction():
        store.forget(number)
        store.database.run("UPDATE releases SET status = 'begun', digest = NULL WHERE number = ?", (number,))


def _forget(store: VaultStore, number: int) -> None:
    with store.database.transaction():
        store.forget(number)
        store.database.run("DELETE FROM releases WHERE number = ?", (number,))


def _shown(hidden: Path, path: Path, name: str) -> bool:
    """Whether an intended release was shown, if need be because it is given its name now."""
    with suppress(ReleaseError, OSError):  # the name may be taken meanwhile, or the folder damaged
        if _is(hidden, name) and verify_alone(hidden).ok:
            reveal(hidden, path)
    return _gone(hidden) or _is(path, name)  # or somebody has copied it by hand


def _gone(hidden: Path) -> bool:
    try:
        hidden.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError as error:
        raise VaultError(
            f"a release was being made in `{hidden.parent}`, which cannot be read now: {error.strerror}",
            hint="make that folder readable, then run the same command again",
        ) from None
    return False


def _is(folder: Path, name: str) -> bool:
    try:
        return identity(folder) == name
    except OSError:
        return False
