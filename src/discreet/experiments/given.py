"""Parameters as texts (`--set d=3,5`), in the types of the paper's own, and only such as can be measured."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from discreet.errors import InputError
from discreet.experiments.experiment import Experiment, told
from discreet.words import nearest

LIMITS = (1, math.inf)  # of a number, unless an experiment says otherwise


def given(experiment: Experiment, texts: Mapping[str, str]) -> dict[str, Any]:
    """The parameters that texts set, by name."""
    return {name: _read(experiment, name, text) for name, text in texts.items()}


def _read(experiment: Experiment, name: str, text: str) -> Any:
    if name not in experiment.parameters:
        raise InputError(f"`{experiment.name}` has no parameter `{name}`", hint=nearest(name, experiment.parameters))
    own = experiment.parameters[name]
    kind = type(own[0]) if isinstance(own, list) else type(own)
    try:
        found = [kind(part.strip()) for part in text.split(",")] if isinstance(own, list) else kind(text)
    except ValueError:
        what = "values like" if isinstance(own, list) else "a value like"
        raise InputError(f"`{name}` cannot be `{text}`", hint=f"expected {what} {told(own)}") from None
    for value in found if isinstance(found, list) else [found]:
        _check(experiment, name, value)
    return found


def _check(experiment: Experiment, name: str, value: Any) -> None:
    if isinstance(value, str):
        words = experiment.words.get(name, experiment.parameters[name])
        if value not in words:
            raise InputError(f"`{name}` cannot be `{value}`", hint=nearest(value, words))
        return
    low, high = experiment.limits.get(name, LIMITS)
    if not low <= value <= high:
        expected = f"{told(low)} or more" if high == math.inf else f"{told(low)} to {told(high)}"
        raise InputError(f"`{name}` cannot be {told(value)}", hint=f"expected {expected}")
