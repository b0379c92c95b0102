"""How many bytes and pages a process reads and writes: logical input and output, as the system counts it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from discreet.errors import InputError

COUNTERS = Path("/proc/self/io")


@contextmanager
def pages(size: int) -> Iterator[Callable[[], dict[str, int]]]:
    """Count inside the block; what is yielded tells bytes read and written, and pages of `size` bytes."""
    before = _bytes()
    found: dict[str, int] = {}
    yield lambda: found
    read, written = (now - then for now, then in zip(_bytes(), before, strict=True))
    found.update(bytes_read=read, bytes_written=written, pages=-(-read // size) + -(-written // size))


def _bytes() -> tuple[int, int]:
    try:
        text = COUNTERS.read_text(encoding="ascii")
    except OSError:
        raise InputError(
            "this system does not tell what a process reads and writes", hint="run this experiment on Linux"
        ) from None
    read, written = (int(match[1]) for match in re.finditer(r"^[rw]char: (\d+)$", text, re.MULTILINE))
    return read, written
