"""How what Koudas et al. say of their figures is judged."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from discreet.experiments.experiment import Rows
from discreet.experiments.koudas.measured import OPTIMAL


def twice(rows: Rows) -> tuple[bool, str]:
    found = [value for line in rows.series("error", "generalized").values() for _, value in line]
    return float(np.median(found)) > 2, f"generalized: {np.median(found):.3g} at the median"


def optimal_beats(*others: str) -> Callable[[Rows], tuple[bool, str]]:
    """Everywhere, the errors of all three optimisers are below those of the others."""

    def judge(rows: Rows) -> tuple[bool, str]:
        least = {
            other: min(
                (theirs / ours if ours else float("inf"), f"{own}, {where}")
                for own in OPTIMAL
                for where, ours, theirs in rows.pairs("error", own, other)
            )
            for other in others
        }
        told = "; ".join(f"{name} {ratio:.3g} times ({where})" for name, (ratio, where) in least.items())
        return min(least.values())[0] > 1, f"larger errors, at least: {told}"

    return judge


def alike(rows: Rows) -> tuple[bool, str]:
    """The three optimisers lie within a factor of two of each other."""
    ratios = [a / b for one in OPTIMAL for other in OPTIMAL for _, a, b in rows.pairs("error", one, other)]
    return max(ratios) <= 2, f"largest / smallest of the three: {max(ratios):.3g}"


def four_times(rows: Rows) -> tuple[bool, str]:
    ratios = [a / b for _, a, b in rows.pairs("seconds", "rewritten", "original")]
    return 2 <= float(
        np.median(ratios)
    ) <= 8, f"rewritten / original: {np.median(ratios):.3g} at the median, {min(ratios):.3g} to {max(ratios):.3g}"


def quadratic(rows: Rows) -> tuple[bool, str]:
    line = sorted(rows.series("seconds", "min_sum")[""])
    (few, first), (many, last) = line[len(line) // 2], line[-1]
    power = float(np.log(last / first) / np.log(many / few))
    return (
        power > 1.5,
        f"time grows with the rows to the power of {power:.2f} from {few:,} to {many:,} rows ({last:.3g} s)",
    )


def comparable(rows: Rows) -> tuple[bool, str]:
    ratios = [a / b for _, a, b in rows.pairs("error", "l-diversity", "min_sum")]
    return 1 / 3 <= min(ratios) <= max(ratios) <= 3, f"l-diversity / min_sum: {min(ratios):.3g} to {max(ratios):.3g}"


def same_time(rows: Rows) -> tuple[bool, str]:
    ratios = [max(a / b, b / a) for _, a, b in rows.pairs("seconds", "min_max", "min_sum") if min(a, b)]
    return max(ratios) <= 3, f"min_max against min_sum: a factor of {max(ratios):.3g} at most"


def below_20(rows: Rows) -> tuple[bool, str]:
    line = sorted(rows.series("error", "permuted")[""])
    return line[0][1] < 0.2, f"permuted: {line[0][1]:.3g} at span {line[0][0]}"
