"""Koudas et al. (ICDE 2007): figures 6 to 17."""

from discreet.experiments.koudas.figures import EXPERIMENTS

__all__ = ["EXPERIMENTS"]
