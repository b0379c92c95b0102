"""Comparisons: the same table published in several ways, and what each tells. For the steward: it looks at raw rows."""

from __future__ import annotations

from discreet.comparison.comparison import Comparison, Outcome
from discreet.comparison.sweep import Sweep
from discreet.comparison.trial import compare, sweep

__all__ = ["Comparison", "Outcome", "Sweep", "compare", "sweep"]
