"""Every figure of the five papers, by one command each: `discreet reproduce NAME`."""

from __future__ import annotations

from importlib import import_module

from discreet.errors import InputError
from discreet.experiments.experiment import Experiment
from discreet.words import nearest

PAPERS = ("koudas", "sacharidis", "byun", "li", "xiao")


def experiments() -> dict[str, Experiment]:
    """All of them by name, paper by paper."""
    listed = [each for paper in PAPERS for each in import_module(f"discreet.experiments.{paper}").EXPERIMENTS]
    return {each.name: each for each in listed}


def experiment(name: str) -> Experiment:
    """The one that has a name."""
    known = experiments()
    if name not in known:
        raise InputError(f"there is no experiment `{name}`", hint=nearest(name, known))
    return known[name]
