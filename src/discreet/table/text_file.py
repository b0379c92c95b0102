"""A CSV file as text: plain or compressed by gzip, in whatever encoding it is written.

The engine reads UTF-8, compressed or not. Of other encodings it gets a copy in a file that has no name on disk: it is
gone with the process, however that ends. Cost: one pass over the file.
"""

from __future__ import annotations

import gzip
import io
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import IO, Any

from discreet.values.separators import separator
from discreet.values.written import Csv

BYTE_ORDER = {b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}
OFFICE = "windows-1252"  # what offices write that do not write Unicode
ANY = "latin-1"  # every byte is a letter of it


def is_gzip(path: Path) -> bool:
    return path.suffix.lower() == ".gz"


@contextmanager
def opened(path: Path, encoding: str, errors: str = "strict") -> Iterator[io.TextIOWrapper]:
    """The text of a file, without the mark of its byte order."""
    with _raw(path) as raw, io.TextIOWrapper(raw, _marked(encoding), errors, newline="") as text:
        yield text


def separator_of(path: Path, csv: Csv) -> str:
    """The sign between the fields of a file: the one that is said, or that its header and first row show."""
    if csv.separator is not None:
        return csv.separator
    with opened(path, csv.encoding, "replace") as text:
        return separator([text.readline(), text.readline()])


def in_utf_8(path: Path, encoding: str, lines: int | None = None) -> IO[bytes]:
    """A copy of a file in UTF-8 that has no name, or of its first lines."""
    copy = tempfile.TemporaryFile()  # noqa: SIM115 - it stays open as long as its table
    try:
        with opened(path, encoding) as text:
            writer = io.TextIOWrapper(copy, "utf-8", newline="", write_through=True)
            if lines is None:
                shutil.copyfileobj(text, writer, 1 << 20)
            else:
                writer.writelines(islice(text, lines))
            writer.flush()
            writer.detach()
    except BaseException:
        copy.close()
        raise
    return copy


def place(file: IO[bytes]) -> Path:
    """Where the engine finds a file that has no name."""
    return Path(f"/dev/fd/{file.fileno()}")


def likely_encoding(path: Path) -> str:
    """The encoding in which a file can be read: UTF-8 if it is, or what its first bytes or its letters show."""
    with _raw(path) as raw:
        start = raw.read(2)
    for encoding in (BYTE_ORDER.get(start, "utf-8"), OFFICE):
        try:
            with opened(path, encoding) as text:
                while text.read(1 << 20):
                    pass
        except UnicodeError:
            continue
        return encoding
    return ANY


def _raw(path: Path) -> Any:
    return gzip.open(path, "rb") if is_gzip(path) else path.open("rb")


def _marked(encoding: str) -> str:
    """UTF-8 may begin with a mark that is no part of the text."""
    return "utf-8-sig" if Csv(encoding=encoding).utf_8 else encoding
