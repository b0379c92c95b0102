"""What the site adds to the pages in docs/: the files of the checkout that they link to, and one page per decision."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.nav import Navigation, Section
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parent.parent
# Files beside docs/, and where they are on the site.
BESIDE = {
    "README.md": "readme.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changes.md",
    "SECURITY.md": "security.md",
    "LICENSE": "LICENSE.txt",
    "CITATION.cff": "CITATION.cff.txt",
}
LINK = re.compile(r"\]\(([^)#\s]+)(#[^)\s]*)?\)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Take in the files beside docs/, with their links turned to where pages are on the site."""
    for name, place in BESIDE.items():
        text = (ROOT / name).read_text(encoding="utf-8")
        files.append(File.generated(config, place, content=_turned(text, inside=False) if name[-3:] == ".md" else text))
    return files


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Turn links that lead out of docs/."""
    return markdown if page.file.src_uri in BESIDE.values() else _turned(markdown, inside=True)


def on_nav(nav: Navigation, config: MkDocsConfig, files: Files) -> Navigation:
    """List every decision, in the order of their numbers."""
    pages = [
        file.page or Page(None, file, config) for file in files.documentation_pages() if "decisions/" in file.src_uri
    ]
    pages.sort(key=lambda page: page.file.src_uri)
    decisions = Section("Decisions", list(pages))
    for page in pages:
        page.parent = decisions
    nav.items.append(decisions)
    nav.pages.extend(pages)
    return nav


def _turned(text: str, *, inside: bool) -> str:
    """Links between docs/ and the files beside it, as they are on the site; the rest as it is."""

    def turn(link: re.Match[str]) -> str:
        target, anchor = link[1], link[2] or ""
        beside = target.removeprefix("../")
        if beside in BESIDE and inside == target.startswith("../"):
            return f"]({BESIDE[beside]}{anchor})"
        return f"]({target.removeprefix('docs/')}{anchor})" if not inside else link[0]

    return LINK.sub(turn, text)
