"""The estimator `design`: a regression that is unbiased because chance alone brought rows to groups."""

from discreet.answer.estimators.design.by_design import ByDesign

__all__ = ["ByDesign"]
