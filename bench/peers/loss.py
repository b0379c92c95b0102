"""Judge what was written, whoever wrote it: NCP, k and l from the files alone; nothing of discreet is used here.

Boxes are read as two numbers per row and quasi-identifier: from where to where it may lie. What a cell loses is how
far these are apart, as a share of the column; NCP is the mean over all cells, those of suppressed rows being 1.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

Boxes = dict[str, tuple[np.ndarray, np.ndarray]]


def read_discreet(folder: Path, quasi: Sequence[str], sensitive: str) -> tuple[Boxes, np.ndarray]:
    shown = pd.read_parquet(folder / "generalized.parquet")
    boxes = {name: (shown[f"{name}_low"].to_numpy(), shown[f"{name}_high"].to_numpy()) for name in quasi}
    return boxes, shown[sensitive].to_numpy()


def read_labels(path: Path, quasi: Sequence[str], sensitive: str) -> tuple[Boxes, np.ndarray]:
    """A CSV file whose cells are `5`, `5-9` or `*`, as anonypy and the hierarchies for ARX write them."""
    shown = pd.read_csv(path, dtype=str)
    boxes = {}
    for name in quasi:
        ends = shown[name].str.extract(r"^(\d+)(?:-(\d+))?$").astype(float)
        low = ends[0].to_numpy()
        boxes[name] = low, np.where(np.isnan(ends[1]), low, ends[1])  # NaN: anything
    return boxes, shown[sensitive].to_numpy()


def ncp(boxes: Boxes, domains: dict[str, tuple[int, int]], rows: int) -> float:
    """The mean over all cells of a table of so many rows; those that are not there were suppressed."""
    lost = 0.0
    for name, (low, high) in boxes.items():
        first, last = domains[name]
        share = (high - low) / (last - first)
        lost += float(np.where(np.isnan(share), 1.0, np.minimum(share, 1.0)).sum()) + rows - share.size
    return lost / (rows * len(boxes))


def kept(boxes: Boxes, sensitive: np.ndarray) -> tuple[int, int]:
    """The rows of the smallest set of equal boxes, and the fewest distinct values of one."""
    held: dict[tuple[float, ...], Counter] = defaultdict(Counter)
    ends = np.stack([np.nan_to_num(side, nan=-1) for pair in boxes.values() for side in pair], axis=1)
    for box, value in zip(map(tuple, ends.tolist()), sensitive.tolist(), strict=True):
        held[box][value] += 1
    return min(map(Counter.total, held.values())), min(map(len, held.values()))


def kept_by_pycanon(boxes: Boxes, sensitive: np.ndarray) -> tuple[int, int]:
    """The same as pycanon counts it."""
    from pycanon import anonymity

    frame = pd.DataFrame({f"{name}_{i}": side for name, pair in boxes.items() for i, side in enumerate(pair)})
    names, frame = list(frame.columns), frame.fillna(-1).assign(held=sensitive).astype(object)
    return anonymity.k_anonymity(frame, names), anonymity.l_diversity(frame, names, ["held"])
