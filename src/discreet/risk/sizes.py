"""How likely records are re-identified, from the sizes of their classes: prosecutor, journalist and marketer.

A class is all records that look the same to the attacker. He who knows that a person is in the table, the *prosecutor*,
finds the person's record among f that look the same: with probability 1/f. He who only knows that a person is in the
population, the *journalist*, has 1/F, where F people of the population look so. The *marketer* wants as many as he can:
his success is the average of 1/F over all records.
Source: El Emam, "Guide to the De-Identification of Personal Health Information", 2013, as in ARX.
Claim: risks_are_those_of_records — the same as counted record by record.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

THRESHOLDS = (0.05, 0.09, 0.2, 0.33)
Sizes: TypeAlias = npt.NDArray[Any]  # whole numbers
Floats: TypeAlias = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class AtRisk:
    """The share of records whose risk is above each threshold, the highest risk of a record, and the average."""

    at_risk: Mapping[float, float]
    highest: float
    average: float


def prosecutor(sizes: Sizes) -> AtRisk:
    """The risk of records in classes of these sizes, to whoever knows who is in the table."""
    return of_records(1 / sizes, sizes)


def of_records(risks: Floats, sizes: Sizes) -> AtRisk:
    """Classes of these sizes, whose records have these risks; none at all if there are no records."""
    records = int(sizes.sum())
    above = {limit: float(sizes[risks > limit].sum() / max(records, 1)) for limit in THRESHOLDS}
    return AtRisk(above, float(risks.max(initial=0)), float((risks * sizes).sum() / max(records, 1)))
