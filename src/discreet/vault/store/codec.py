"""Counts and boxes as bytes, for a database: what is zero takes no room."""

from __future__ import annotations

import struct

import numpy as np

from discreet.values.boxes import Box
from discreet.vault.tree.model import Ints

COUNT = np.dtype("<i8")
PLACE = np.dtype("<i4")
END = np.dtype("<f8")
NUMBER = struct.Struct("<I")


def packed(numbers: Ints) -> bytes:
    """A vector or matrix: its shape, then the places and values of what is not zero."""
    flat = numbers.reshape(-1)
    held = flat.nonzero()[0]
    shape = struct.pack(f"<{1 + numbers.ndim}I", numbers.ndim, *numbers.shape)
    return b"".join((shape, held.astype(PLACE).tobytes(), flat[held].astype(COUNT).tobytes()))


def unpacked(found: bytes) -> Ints:
    """The vector or matrix that `packed` gave."""
    (dimensions,) = NUMBER.unpack_from(found)
    shape = struct.unpack_from(f"<{dimensions}I", found, 4)
    start = 4 + 4 * dimensions
    held = (len(found) - start) // (PLACE.itemsize + COUNT.itemsize)
    numbers = np.zeros(shape, np.int64)
    places = np.frombuffer(found, PLACE, held, start)
    numbers.reshape(-1)[places] = np.frombuffer(found, COUNT, held, start + held * PLACE.itemsize)
    return numbers


def packed_box(box: Box) -> bytes:
    """The ends of all columns, then each set with its length before it."""
    parts = [box.lows.astype(END).tobytes(), box.highs.astype(END).tobytes()]
    for bits in map(packed_set, box.sets):
        parts += (NUMBER.pack(len(bits)), bits)
    return b"".join(parts)


def unpacked_box(found: bytes, columns: int) -> Box:
    """The box of that many columns that `packed_box` gave."""
    lows, highs = np.frombuffer(found, END, columns), np.frombuffer(found, END, columns, columns * END.itemsize)
    sets, at = [], 2 * columns * END.itemsize
    for _ in range(columns):
        (length,) = NUMBER.unpack_from(found, at)
        at += 4
        sets.append(int.from_bytes(found[at : at + length], "little"))
        at += length
    return Box(lows, highs, tuple(sets))


def packed_set(bits: int) -> bytes:
    """A set of codes, a bit for each."""
    return bits.to_bytes((bits.bit_length() + 7) // 8, "little")


def unpacked_set(found: bytes) -> int:
    return int.from_bytes(found, "little")
