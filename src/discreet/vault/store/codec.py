"""Counts and boxes as bytes, for a database: what is zero takes no room."""

from __future__ import annotations

import struct
from collections.abc import Sequence

import numpy as np

from discreet.values.boxes import Box
from discreet.vault.tree.model import Floats, Ints

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


def unpacked_all(found: Sequence[bytes]) -> tuple[Ints, Ints, Ints]:
    """Many vectors that `packed` gave: of each number that is not zero the vector, the place in it, and the number."""
    start, each = 2 * NUMBER.size, PLACE.itemsize + COUNT.itemsize
    held = [(len(one) - start) // each for one in found]
    ends = [start + PLACE.itemsize * count for count in held]
    places = np.frombuffer(b"".join([one[start:end] for one, end in zip(found, ends, strict=True)]), PLACE)
    numbers = np.frombuffer(b"".join([one[end:] for one, end in zip(found, ends, strict=True)]), COUNT)
    return np.repeat(np.arange(len(held)), held), places.astype(np.int64), numbers


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


def unpacked_boxes(found: Sequence[bytes], columns: int) -> tuple[Floats, Floats, list[list[bytes]]]:
    """Many boxes that `packed_box` gave: a line of lows and of highs for each, and of each column all packed sets."""
    width = 2 * columns * END.itemsize
    ends = np.frombuffer(b"".join([one[:width] for one in found]), END).reshape(-1, 2, columns)
    whole = np.frombuffer(b"".join(found), np.uint8)
    starts = np.cumsum([0, *map(len, found)])[:-1]
    at, sets = np.full(len(found), width), []
    for _ in range(columns):
        lengths = whole[(starts + at)[:, None] + np.arange(NUMBER.size)].view("<u4")[:, 0]
        first, at = at + NUMBER.size, at + NUMBER.size + lengths
        sets.append([one[a:b] for one, a, b in zip(found, first.tolist(), at.tolist(), strict=True)])
    return ends[:, 0], ends[:, 1], sets


def packed_set(bits: int) -> bytes:
    """A set of codes, a bit for each."""
    return bits.to_bytes((bits.bit_length() + 7) // 8, "little")


def unpacked_set(found: bytes) -> int:
    return int.from_bytes(found, "little")


def unpacked_sets(found: Sequence[bytes]) -> tuple[Ints, Ints]:
    """Many sets that `packed_set` gave: of each code in one the set, ascending, and the code, ascending in it."""
    lengths = np.array([len(one) for one in found], np.int64)
    starts = np.cumsum(lengths) - lengths
    whole = np.frombuffer(b"".join(found), np.uint8)
    held = np.flatnonzero(whole)
    byte, bit = np.nonzero(np.unpackbits(whole[held][:, None], axis=1, bitorder="little"))
    of = np.repeat(np.arange(len(found)), lengths)[held[byte]]
    return of, 8 * (held[byte] - starts[of]) + bit
