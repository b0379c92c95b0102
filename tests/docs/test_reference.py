"""The reference names what there is, and all of what is public."""

import re
from importlib import import_module
from pathlib import Path

import pytest

import discreet
from discreet import errors

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs" / "reference").glob("*.md"))
NAMES = [name for page in PAGES for name in re.findall(r"^::: (\S+)$", page.read_text(encoding="utf-8"), re.MULTILINE)]


def found(name):
    """The object that a dotted name stands for; a name in the front door comes through it."""
    home, _, last = name.rpartition(".")
    try:
        return getattr(import_module(home), last)
    except (ImportError, AttributeError):
        return import_module(name)


@pytest.mark.parametrize("name", NAMES)
def test_every_name_exists(name):
    assert found(name) is not None


def test_every_public_name_is_described():
    described = [found(name) for name in NAMES]
    described.append(discreet.audit if "discreet.audit.several.audit" in NAMES else None)
    described.append(discreet.report if "discreet.report.make.report" in NAMES else None)
    assert errors in described
    assert [name for name in discreet.__all__ if getattr(discreet, name) not in described] == []


def test_every_page_is_in_the_navigation():
    site = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    pages = [page.relative_to(ROOT / "docs").as_posix() for page in (ROOT / "docs").glob("*.md")]
    pages += [page.relative_to(ROOT / "docs").as_posix() for page in PAGES]
    assert [page for page in pages if not re.search(rf"[ -]{re.escape(page)}$", site, re.MULTILINE)] == []


def test_nothing_is_fetched_from_elsewhere():
    """No part of the site, the workflow or the hooks comes from a host that is named."""
    for name in ("mkdocs.yml", "docs/site.css", ".github/workflows/test.yml", ".pre-commit-config.yaml", "Makefile"):
        assert "://" not in (ROOT / name).read_text(encoding="utf-8"), name


def test_the_first_page_lists_every_decision():
    there = [path.name for path in sorted((ROOT / "docs" / "decisions").glob("*.md"))]
    assert re.findall(r"\(decisions/(\S+)\)", (ROOT / "docs" / "index.md").read_text(encoding="utf-8")) == there
