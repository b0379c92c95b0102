"""The policy: what each column is, and what the release must promise."""

from discreet.policy.check import unfit
from discreet.policy.policy import Given, Policy

__all__ = ["Given", "Policy", "unfit"]
