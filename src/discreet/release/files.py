"""The files of a release as they come from anybody: plain files only, and none that is larger than it may be.

A pipe has no end, a device may have none either, and a link leads out of the folder: none of them is opened.
"""

from __future__ import annotations

import hashlib
import io
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def opened(path: Path) -> Iterator[io.BufferedReader]:
    """A plain file, to be read; raise `OSError` for anything else, without waiting for it."""
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(handle, "rb") as file:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise OSError(f"`{path.name}` is not a plain file")
        yield file


def is_plain(path: Path) -> bool:
    """Whether there is a plain file, and no link to one."""
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except OSError:
        return False


def content(path: Path, *, most: int) -> bytes:
    """What a plain file of at most so many bytes holds; raise `OSError` for anything else."""
    with opened(path) as file:
        found = file.read(most + 1)
    if len(found) > most:
        raise OSError(f"`{path.name}` is larger than {most} bytes")
    return found


def digest_of(text: bytes) -> str:
    """The digest of a text as the manifest writes it."""
    return "sha256:" + hashlib.sha256(text).hexdigest()


def digest(path: Path) -> str:
    """The digest of a plain file as the manifest writes it."""
    with opened(path) as file:
        return "sha256:" + hashlib.file_digest(file, "sha256").hexdigest()
