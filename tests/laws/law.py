"""How a law is tried: on the same examples in every run, and on more and other ones by `make long`."""

from __future__ import annotations

from typing import Any

from hypothesis import HealthCheck, Phase, settings


def law(examples: int) -> Any:
    """The settings of a law. Examples are small as they are, and shrinking one takes minutes."""
    checks = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]
    phases = [Phase.explicit, Phase.generate]
    return settings(max_examples=examples, deadline=None, derandomize=True, phases=phases, suppress_health_check=checks)
