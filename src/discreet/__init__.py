"""Publish tables about people without publishing the people, and still answer questions about them."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from discreet.answer import ask
    from discreet.audit.attacked import attack
    from discreet.audit.metrics import metrics
    from discreet.audit.risks import risks
    from discreet.audit.several import audit
    from discreet.comparison import compare
    from discreet.learn.pool import pool
    from discreet.policy import Policy
    from discreet.publication.publish import publish
    from discreet.release import open_release, verify
    from discreet.release.database.move import dump, load
    from discreet.report.make import report
    from discreet.table import inspect, read
    from discreet.vault.vault import Vault

__version__ = "0.1.0"
__all__ = [
    "Policy",
    "Vault",
    "ask",
    "attack",
    "audit",
    "compare",
    "dump",
    "inspect",
    "load",
    "metrics",
    "open_release",
    "pool",
    "publish",
    "read",
    "report",
    "risks",
    "verify",
]

_HOMES = {
    "Policy": "discreet.policy",
    "Vault": "discreet.vault.vault",
    "ask": "discreet.answer",
    "attack": "discreet.audit.attacked",
    "audit": "discreet.audit",
    "compare": "discreet.comparison",
    "dump": "discreet.release.database.move",
    "inspect": "discreet.table",
    "load": "discreet.release.database.move",
    "metrics": "discreet.audit.metrics",
    "open_release": "discreet.release",
    "pool": "discreet.learn.pool",
    "publish": "discreet.publication.publish",
    "read": "discreet.table",
    "report": "discreet.report",
    "risks": "discreet.audit.risks",
    "verify": "discreet.release",
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used: a command that prints help loads no engine."""
    if name not in _HOMES:
        raise AttributeError(f"module 'discreet' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
