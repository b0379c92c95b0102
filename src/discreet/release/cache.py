"""What was derived from a release, kept for the next process: outside of it, and nothing but what its files show.

A folder per release among the user's caches, named by what its manifest says of its files, and their sizes and times;
in it an array per file, which the next process only maps. Only the user may enter. A file that is broken, or somebody
else's, is as good as none. The folders that were not used for the longest time go when all of them take too much room.
`DISCREET_CACHE=off` switches it off; any other value is the folder for it.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import tempfile
import tokenize
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from discreet.release.release import Release

SWITCH = "DISCREET_CACHE"
FORMAT = 1  # of what is kept
LARGE = 1_000_000  # rows; of less, groups and codes are derived as fast as they are found
MOST_BYTES = 4 * 2**30

Arrays: TypeAlias = dict[str, npt.NDArray[Any]]


class Cache:
    """Arrays by the item that they belong to; without a folder nothing is kept."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder

    @classmethod
    def of(cls, release: Release, *, least: int | None = None) -> Cache:
        """The cache of a release of at `least` so many rows; of a smaller one nothing is kept."""
        set_to = os.environ.get(SWITCH, "")
        if (
            set_to.lower() == "off"
            or release.promise.rows < (LARGE if least is None else least)
            or not hasattr(os, "geteuid")
        ):
            return cls(None)
        told = hashlib.sha256(str(FORMAT).encode())
        for resource in release.manifest.resources:
            for path, digest in zip(release.files(resource.name), resource.digests, strict=True):
                found = path.stat()
                told.update(f"{resource.name} {digest} {found.st_size} {found.st_mtime_ns}\n".encode())
        home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "discreet"
        return cls((Path(set_to) if set_to else home) / told.hexdigest())

    def get(self, item: str, names: Sequence[str]) -> Arrays | None:
        """The arrays of an item; None unless all are there."""
        try:
            found = {name: self._mapped(self._path(item, name)) for name in names}
        except (OSError, ValueError, EOFError, SyntaxError, tokenize.TokenError):  # headers of arrays are Python
            return None
        with suppress(OSError):
            os.utime(self._path(item, names[0]).parent)
        return found

    def put(self, item: str, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        """Keep the arrays of an item, if there is room."""
        if self._folder is None:
            return
        with suppress(OSError):
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            for name, array in arrays.items():
                _write(array, self._path(item, name))
            _sweep(self._folder)

    def _path(self, item: str, name: str) -> Path:
        if self._folder is None:
            raise FileNotFoundError
        return self._folder / f"{hashlib.sha256(item.encode()).hexdigest()[:32]}-{name}.npy"

    @staticmethod
    def _mapped(path: Path) -> npt.NDArray[Any]:
        """An array as it lies on the disk; what is written to it stays in memory."""
        about = path.lstat()
        if about.st_uid != os.geteuid() or about.st_mode & 0o077 or path.parent.lstat().st_uid != os.geteuid():
            raise PermissionError
        return np.asarray(np.load(path, mmap_mode="c", allow_pickle=False))


def _write(array: npt.NDArray[Any], path: Path) -> None:
    """All of an array, or nothing: on a full disk every process would leave another piece."""
    handle, partial = tempfile.mkstemp(dir=path.parent, suffix=".partial")  # the user's alone
    try:
        with os.fdopen(handle, "wb") as file:
            np.save(file, array, allow_pickle=False)
        Path(partial).replace(path)
    except BaseException:
        Path(partial).unlink(missing_ok=True)
        raise


def _sweep(newest: Path) -> None:
    """Remove what was not used for the longest time, while all takes too much room."""
    ours = [each for each in newest.parent.iterdir() if re.fullmatch(r"[0-9a-f]{64}", each.name) and each.is_dir()]
    folders = sorted(ours, key=lambda each: each.stat().st_mtime)
    sizes = {each: sum(file.stat().st_size for file in each.iterdir()) for each in folders}
    for folder in folders:
        if sum(sizes.values()) <= MOST_BYTES:
            return
        if folder != newest:
            shutil.rmtree(folder, ignore_errors=True)
            del sizes[folder]
