"""Spilled rows without a name: when the process is killed, the system takes them back with its memory.

It is for files that an engine opens once and keeps open. As soon as there are rows in one, an empty file takes over its
name: no name leads to the rows any more, and the engine still finds something to remove when it is done with them.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from threading import Event, Thread

EVERY = 0.01  # seconds


class Nameless:
    """Takes the names of the files of a pattern away, in a thread of its own, until it is stopped."""

    def __init__(self, folder: Path, pattern: str, empty: Path) -> None:
        self._stopped = Event()
        self._thread = Thread(target=_watch, args=(folder, pattern, empty, self._stopped), daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._stopped.set()
        self._thread.join()


def _watch(folder: Path, pattern: str, empty: Path, stopped: Event) -> None:
    while not stopped.wait(EVERY):
        unname(folder, pattern, empty)


def unname(folder: Path, pattern: str, empty: Path) -> None:
    """Let a file that is made as `empty` take over the name of every file of a pattern that is not empty itself."""
    for path in folder.glob(pattern):
        with suppress(OSError):  # removed meanwhile; or a system that lets nobody replace an open file
            if path.stat().st_size:
                empty.touch()
                empty.replace(path)
