"""Folders of work under way: the user's alone, gone when it is done, and swept by the next if it was killed.

A folder is held by a lock of the system on the folder itself, which ends with its process, however that ends: process
numbers are not guessed at. Whoever makes the next one first removes those of this user that nobody holds.
"""

from __future__ import annotations

import fcntl
import os
import re
import secrets
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from time import monotonic, sleep

from discreet.errors import ReleaseError

TEMPORARY = re.compile("discreet-work-[0-9a-f]{16}")
TRIES = 100
PATIENCE = 15.0  # seconds in which whoever still writes to a folder that is to go will have ended
PAUSE = 0.05


@dataclass(frozen=True, slots=True)
class Scratch:
    """A folder that this process holds."""

    path: Path
    handle: int

    def remove(self) -> None:
        """Remove what is in it, and let go of it; for good, so only once."""
        shutil.rmtree(self.path, ignore_errors=True)
        self.let_go()

    def let_go(self) -> None:
        os.close(self.handle)


def temporary() -> Scratch:
    """A new folder among the temporary files of the system."""
    place = Path(tempfile.gettempdir())
    _swept(place)
    return made(lambda: place / f"discreet-work-{secrets.token_hex(8)}")


@contextmanager
def workplace() -> Iterator[Path]:
    """A folder among the temporary files, for as long as something takes."""
    folder = temporary()
    try:
        yield folder.path
    finally:
        folder.remove()


@cache
def _swept(place: Path) -> None:
    """Sweep temporary files at the first folder that this process makes among them."""
    sweep(place, TEMPORARY)


def made(draw: Callable[[], Path]) -> Scratch:
    """A new folder at a place that is drawn by chance, held by this process."""
    for _ in range(TRIES):
        path = draw()
        path.mkdir(mode=0o700)
        handle = _held(path, must=False)
        if handle is not None:
            return Scratch(path, handle)
        # somebody who swept saw it before it was held: then it is theirs, and goes
    raise OSError("no new folder could be held")


def remove(folder: Path, *, quiet: float = 0.0) -> None:
    """Remove a private folder for good, though tasks that are ending may still write to it; raise if it stays.

    Where such a task may make the folder again, it must have been away for some seconds (`quiet`).
    """
    end, since = monotonic() + PATIENCE + quiet, monotonic()
    while True:
        if os.path.lexists(folder):
            shutil.rmtree(folder, ignore_errors=True)
            since = monotonic()
        if not os.path.lexists(folder) and monotonic() - since >= quiet:
            return
        if monotonic() > end:
            raise ReleaseError(
                f"`{folder}` cannot be removed, and may hold private rows",
                hint="remove it by hand, with all that is in it",
            )
        sleep(PAUSE)


def sweep(place: Path, names: re.Pattern[str]) -> None:
    """Remove the folders of such names in a place that `made` made, and whose process is gone; other users' stay."""
    with suppress(OSError):
        for path in [Path(entry) for entry in os.scandir(place) if names.fullmatch(entry.name)]:
            with suppress(OSError):
                if path.lstat().st_uid == os.getuid() and (handle := _held(path, must=True)) is not None:
                    Scratch(path, handle).remove()


def _held(path: Path, *, must: bool) -> int | None:
    """The handle of a folder that is now held; None if another process holds it, or has removed it.

    Where the file system has no locks, a folder is held without one, unless it `must` be; then nobody sweeps it.
    """
    try:
        handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        free = os.path.samestat(path.lstat(), os.fstat(handle))
    except (BlockingIOError, FileNotFoundError):
        free = False
    except OSError:
        free = not must
    if free:
        return handle
    os.close(handle)
    return None
