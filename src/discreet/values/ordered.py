"""Put numbers in order inside compiled code, in plain loops: Numba takes a second to compile a sort of NumPy's.

Runs of a few are ordered by insertion and then merged, twice as long each time.
Cost: n log n.
Claim: order_is_stable — it is the one that NumPy's stable sort finds.
"""

from __future__ import annotations

import numpy as np

from discreet.values.kernel import kernel

RUN = 16


@kernel
def order_of(keys):  # type: ignore[no-untyped-def]
    """The places of all keys in ascending order, equal ones as they stand."""
    n, width = keys.size, RUN
    order, merged = np.empty(n, np.int32), np.empty(n, np.int32)
    for i in range(n):
        at, key = i, keys[i]
        while at % RUN and keys[order[at - 1]] > key:
            order[at] = order[at - 1]
            at -= 1
        order[at] = i
    while width < n:
        for low in range(0, n, 2 * width):
            middle, high = min(low + width, n), min(low + 2 * width, n)
            left, right = low, middle
            for at in range(low, high):
                if left < middle and (right == high or keys[order[left]] <= keys[order[right]]):
                    merged[at] = order[left]
                    left += 1
                else:
                    merged[at] = order[right]
                    right += 1
        order, merged = merged, order
        width *= 2
    return order
