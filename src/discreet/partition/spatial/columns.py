"""A column as a partition sees it: where its values lie on a line, or which of them belong together in a tree."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from discreet.values.codes import Codes
from discreet.values.columns import is_ordered
from discreet.values.positions import measured

Nodes = npt.NDArray[np.int32]


def on_a_line(codes: Codes) -> npt.NDArray[np.float64]:
    """Where every value lies: texts, which have no distances, by their ranks; a missing one an extent beyond."""
    domain = codes.domain
    places = measured(domain) if is_ordered(domain.type) else np.arange(len(domain), dtype=np.float64)
    if codes.missing:
        extent = places[-1] - places[0] if places.size else 0.0
        beyond = places[-1] + (extent or 1.0) if places.size else 0.0
        places = np.append(places, beyond)
    return places


def halves(ranks: Nodes, *, others: bool = False) -> Nodes:
    """The node of every value if neighbours are put together, two, four and so on up to all; `others` were there."""
    height = max(int(ranks.max(initial=0)).bit_length(), 1) + others
    return np.stack([ranks >> level for level in range(height + 1)])


def with_missing(nodes: Nodes, *, missing: bool) -> Nodes:
    """The nodes of every code, the missing value a node of its own below the root."""
    if not missing:
        return nodes
    last = nodes.max(axis=1, initial=-1).astype(np.int32) + 1
    if len(last) == 1:  # a hierarchy of one level has no place below the root
        return np.stack([np.append(nodes[0], last[0]), np.zeros(nodes.shape[1] + 1)]).astype(np.int32)
    last[-1] = 0
    return np.column_stack([nodes, last]).astype(np.int32)
