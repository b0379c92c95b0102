"""Every figure of the five papers, by one command each: `discreet reproduce NAME`."""

from __future__ import annotations

from importlib import import_module

from discreet.errors import InputError
from discreet.experiments.experiment import Experiment
from discreet.words import nearest

PAPERS = ("koudas", "sacharidis", "byun", "li", "xiao")
HEADLINES = (  # what the papers say first, in abstracts and summaries
    *("koudas-7", "koudas-11", "koudas-13", "koudas-14", "sacharidis-10", "sacharidis-14"),
    *("byun-8", "byun-9", "byun-10", "li-1", "xiao-4", "xiao-7"),
)


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
