"""Sacharidis et al. (TKDE 2010): figures 10 to 19."""

from discreet.experiments.sacharidis.figures import EXPERIMENTS

__all__ = ["EXPERIMENTS"]
