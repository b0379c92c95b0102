"""The estimators `design`, a regression that is unbiased because chance alone brought rows to groups, and `shrunk`."""

from discreet.answer.estimators.design.by_design import ByDesign
from discreet.answer.estimators.design.shrunk import Shrunk

__all__ = ["ByDesign", "Shrunk"]
