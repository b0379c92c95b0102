"""Every session that the README and the pages print is run, and prints what they say."""

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tools"))

from docs_sessions import PAGES, README, Output, blocks, prepare, run, same_chance, start  # noqa: E402


@pytest.fixture(scope="module")
def printed_in_readme(tmp_path_factory):
    """The folder in which the README was run, and what it printed."""
    folder = tmp_path_factory.mktemp("readme")
    prepare(folder)
    with same_chance():
        return folder, run(README, folder)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_a_page_prints_what_is_printed(page, printed_in_readme, tmp_path):
    prepared, outputs = printed_in_readme
    if page != README:
        start(prepared, tmp_path)
        with same_chance():
            outputs = run(page, tmp_path)
    for output in outputs:
        if output.differs:
            pytest.fail(
                f"{page.name}, line {output.line}: the page shows\n"
                + "\n".join(output.shown)
                + "\nbut this is printed; `make docs-sessions` writes it:\n"
                + "\n".join(output.as_now)
            )


def test_the_pages_have_sessions(printed_in_readme):
    """What is left out says why, and is little."""
    found = [block for page in PAGES for block in blocks(page)]
    left = [block for block in found if "not run" in block.said]
    assert all(len(block.said["not run"]) > 10 for block in left)
    assert len(found) > 50
    assert len(left) < len(found) / 10


def page_of(tmp_path, monkeypatch, text):
    monkeypatch.setattr("docs_sessions.ROOT", tmp_path)
    page = tmp_path / "page.md"
    page.write_text(text, encoding="utf-8")
    return page


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("```\nsomething\n```\n", "neither run nor marked"),
        ("```sh\nmake test\n```\n", "neither run nor marked"),
        ("```text\nsomething\n```\n", "neither run nor marked"),
        ("```console\nsomething\n```\n", "starts with"),
        ("```console\n$ make test\n```\n", "not run here"),
        ("```python\nprint(1)\n```\n", "does not show"),
        ("```python\nprint(1)\n```\n\n```toml\n```\n", "does not show"),
        ("```console\n$ discreet verify nowhere\n```\n", "left with"),
        ("<!-- exit: 4 -->\n```console\n$ discreet --version\n```\n", "left with"),
        ("```console\n$ discreet --version\nerror: no\n```\n", "left with"),
    ],
)
def test_nothing_is_left_out_in_silence(text, message, tmp_path, monkeypatch):
    with pytest.raises(AssertionError, match=message):
        run(page_of(tmp_path, monkeypatch, text), tmp_path)


def test_hidden_blocks_files_and_outputs(tmp_path, monkeypatch):
    page = page_of(
        tmp_path,
        monkeypatch,
        "<!-- file: a.toml -->\n```toml\na = 1\n```\n\n<!-- file: b.txt\nb\n-->\n<!-- run: python\nfrom pathlib import Path\nc = Path('b.txt').read_text()\n-->\n"
        "```python\nprint(c, end='')\nprint('d')\n```\n\nwords\n\n```text\nb\ne\n```\n<!-- prints: python\nprint('{}')\n-->\n"
        "```json\n{}\n```\n<!-- not run: there is nothing to see -->\n```sh\nmake\n```\n",
    )
    shown = run(page, tmp_path)
    assert [(output.line, output.differs) for output in shown] == [(21, True), (28, False)]
    assert (tmp_path / "a.toml").read_text() == "a = 1\n"


@pytest.mark.parametrize(
    ("shown", "printed", "as_now", "differs"),
    [
        (("a", "b"), ("a", "b"), ("a", "b"), False),
        (("a", "c"), ("a", "b"), ("a", "b"), True),
        (("a", "…"), ("a", "b", "c"), ("a", "…"), False),
        (("…", "c"), ("a", "b", "c"), ("…", "c"), False),
        (("b", "…", "c"), ("a", "b", "c"), ("a", "…", "c"), True),
        (("x   0.2 s",), ("x  12.2 s",), ("x  12.2 s",), False),
        (("since 2026-11-16T10:25:48+00:00",), ("since 2026-11-17T10:25:48.1+00:00",), None, False),
        (("1.0000000001",), ("1.0000000002",), None, False),
        (("1.00001",), ("1.00002",), None, True),
    ],
)
def test_what_is_compared(shown, printed, as_now, differs):
    output = Output(1, shown, printed)
    assert output.as_now == (as_now or printed)
    assert output.differs == differs


def test_figures_that_processors_round_otherwise():
    shown, printed = ("pay: 59,553.7 ± 3,058.7",), ("pay: 6.1e+04 ± 58.7",)
    assert Output(1, shown, printed).differs
    assert not Output(1, shown, printed, figures=False).differs
    assert Output(1, shown, ("age: 59,553.7 ± 3,058.7",), figures=False).differs
