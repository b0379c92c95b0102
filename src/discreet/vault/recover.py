"""Finish or take back a release that was under way when its process ended.

A release that is noted as *begun* was never shown: its hidden folder goes. One that is *intended* was safe on disk.
Only getting its name makes its hidden folder go, so if that is gone, the release was shown, wherever it is now, and is
noted as done. If it is still there, the release gets its name now; if it cannot, because the name was taken or the
folder damaged, it was never shown: first the intent is taken back, and then the folder goes.
A vault in a server may be open to several machines, and that a folder is gone tells something only on the one that made
it. Elsewhere a release that was *begun* is forgotten, since it can no longer be shown: who makes it has lost the lock,
and with it the only connection that could note it as intended. One that is *intended* must be found, or waits for that
machine.
Claim: recovery_is_before_or_after — whenever a command is killed, the next one finds all of it done, or nothing.
Claim: a_release_that_was_shown_is_recorded — even if it was moved away before the next command.
"""

from __future__ import annotations

import platform
import shutil
from contextlib import suppress
from pathlib import Path

from discreet.errors import ReleaseError, VaultError
from discreet.release.chain import identity
from discreet.release.verify import verify_alone
from discreet.release.write import reveal
from discreet.vault.store.database import Database
from discreet.vault.store.store import VaultStore

MACHINE = "machine"  # under which that is noted


def recover(store: VaultStore) -> None:
    """Leave no release half made; the caller is the only writer."""
    unfinished = "SELECT number, status, hidden, path, digest FROM releases WHERE status <> 'done'"
    for number, status, hidden, path, name in store.database.rows(unfinished):
        here = _made_here(store.database)
        shown = status == "intended" and _shown(Path(hidden), Path(path), name, here=here)
        if status == "intended" and not shown:
            if not here:
                raise _elsewhere(store.database, Path(path))
            withdraw(store, number)
        if here:
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


def note_machine(database: Database) -> None:
    """Note where a release is being made, if the vault is open to other machines."""
    if database.shared:
        database.set_meta(MACHINE, machine())


def machine() -> str:
    """What tells this machine from others that might open the same vault: its name, and its number if it has one."""
    for place in ("/etc/machine-id", "/var/lib/dbus/machine-id"):
        with suppress(OSError):
            return f"{platform.node()} {Path(place).read_text(encoding='ascii').strip()}"
    return platform.node()


def _made_here(database: Database) -> bool:
    """Whether a release that is under way has its folder on this machine."""
    return not database.shared or database.meta(MACHINE) == machine()


def _elsewhere(database: Database, path: Path) -> VaultError:
    name = str(database.meta(MACHINE)).partition(" ")[0]
    return VaultError(
        f"a release was about to be shown as `{path}` on the machine `{name}`, and it is not known here whether it was",
        hint="run `discreet vault status` on that machine, which finishes it; or put a copy of the release there",
    )


def _shown(hidden: Path, path: Path, name: str, *, here: bool) -> bool:
    """Whether an intended release was shown, if need be because it is given its name now."""
    with suppress(ReleaseError, OSError):  # the name may be taken meanwhile, or the folder damaged
        if _is(hidden, name) and verify_alone(hidden).ok:
            reveal(hidden, path)
    return (here and _gone(hidden)) or _is(path, name)  # or somebody has copied it by hand


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
