"""The public names, and the promise that every claim is tested."""

import re
from pathlib import Path

import pytest

import discreet

ROOT = Path(__file__).parent.parent


def test_public_names_are_pinned():
    assert dir(discreet) == [
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
    assert all(callable(getattr(discreet, name)) for name in dir(discreet))
    with pytest.raises(AttributeError, match="nonsense"):
        discreet.nonsense  # noqa: B018


def test_every_claim_has_a_test_of_its_name():
    claims = {
        claim
        for path in (ROOT / "src").rglob("*.py")
        for claim in re.findall(r"Claim: (\w+)", path.read_text(encoding="utf-8"))
    }
    tests = {
        name
        for path in (ROOT / "tests").rglob("test_*.py")
        for name in re.findall(r"def test_(\w+)", path.read_text(encoding="utf-8"))
    }
    assert len(claims) >= 10
    assert claims - tests == set()


def test_every_command_and_key_is_documented():
    from discreet.cli import app
    from discreet.policy.check import KEYS

    commands = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
    policy = (ROOT / "docs" / "policy.md").read_text(encoding="utf-8")
    assert [
        c.callback.__name__ for c in app.registered_commands if f"discreet {c.callback.__name__}" not in commands
    ] == []
    assert [
        name
        for group in app.registered_groups
        for c in group.typer_instance.registered_commands
        if (name := f"discreet {group.typer_instance.info.name} {c.callback.__name__}") not in commands
    ] == []
    assert [key for key in KEYS if f"`{key}`" not in policy] == []


def test_no_guard_is_an_assert():
    guards = [
        path for path in (ROOT / "src").rglob("*.py") if re.search(r"^\s*assert ", path.read_text(), re.MULTILINE)
    ]
    assert guards == []
