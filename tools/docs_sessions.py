"""Run the sessions that README.md and the pages in docs/ print, and compare, or write anew, what they print.

Every fenced block of a page has a language, and each is looked at:

    console         each command after `$ ` is run, and what stands below it is what it prints; `…` stands for
                    lines that are left out, and below a command without any output nothing is compared
    python          run, in one namespace per page; a `text` block right after it is what it prints
    sql             run by DuckDB; a `text` block right after it is what it prints
    toml, json      read; they must be valid
    text            only as the output of something

Comments, which no reader sees, say the rest. Before a block, `<!-- file: NAME -->` writes it to a file, `<!-- in:
FOLDER -->` runs it there, `<!-- exit: 4 -->` expects that status of the last command (without it: 0, or anything
else if an `error:` is shown), `<!-- figures: REASON -->` compares what is
printed but for its figures, which other processors may round otherwise, and `<!-- not run: REASON -->` leaves it
alone. A comment that starts with `<!--
file: NAME`, `<!-- run: python` or `<!-- run: console` and goes on for several lines is a block that is not shown.
One that starts with `<!-- prints: python` prints the block after it, whatever its language.

A page starts in a folder of its own, with `patients.csv` (10,000 people), `policy.toml` and `releases/2026-12`, as
the README makes them. Releases are drawn at random; here, and nowhere else, chance starts from the same place
every time. Durations and the time of day are not compared, and long fractions only to nine digits.
"""

from __future__ import annotations

import contextlib
import io
import itertools
import json
import re
import shlex
import shutil
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from unittest import mock

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
MADE = {"sixty.md"}  # pages that a command of their own writes as a whole
DOCS = (page for page in sorted((ROOT / "docs").glob("*.md")) if page.name not in MADE)
PAPERS = sorted((ROOT / "docs" / "papers").glob("*.md"))
PAGES = (README, *DOCS, *PAPERS, ROOT / "docs" / "reference" / "index.md")
SEED = 2006
NOT_COMPARED = (
    (re.compile(r"\d{4}-\d\d-\d\dT[\d:.+]+"), "(time)"),
    (re.compile(r"\b[\d,.]+ (s|ms)\b"), "(duration)"),
)
FRACTION = re.compile(r"\d+\.\d{9,}")
FIGURE = re.compile(r"[+-]?\d[\d,]*(\.\d+)?(e[+-]\d+)?")


@dataclass(frozen=True)
class Block:
    """A fenced block of a page, or one in a comment: where its text starts, what it is, and what was said before it."""

    line: int
    language: str
    lines: tuple[str, ...]
    said: Mapping[str, str]

    @property
    def text(self) -> str:
        return "".join(f"{line}\n" for line in self.lines)


@dataclass(frozen=True)
class Output:
    """What stands on a page from a line on, and what is printed now."""

    line: int
    shown: tuple[str, ...]
    printed: tuple[str, ...]
    figures: bool = True  # whether figures are compared

    @property
    def as_now(self) -> tuple[str, ...]:
        """What the page should show: everything, or as many lines as it shows beside a `…`."""
        if "…" not in self.shown:
            return self.printed
        at = self.shown.index("…")
        after = len(self.shown) - at - 1
        return (*self.printed[:at], "…", *(self.printed[-after:] if after else ()))

    @property
    def differs(self) -> bool:
        return _compared(self.shown, figures=self.figures) != _compared(self.as_now, figures=self.figures)


def blocks(page: Path) -> Iterator[Block]:
    """The blocks of a page, in order."""
    said: dict[str, str] = {}
    inside: Block | None = None
    hidden = False
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        if inside is not None:
            if line == ("-->" if hidden else "```"):
                yield inside
                inside, said = None, {}
            else:
                inside = replace(inside, lines=(*inside.lines, line))
        elif line.startswith("```"):
            inside, hidden = Block(number + 1, line[3:].strip(), (), said), False
        elif comment := re.fullmatch(r"<!-- (file|in|exit|figures|not run): (.+) -->", line):
            said[comment[1]] = comment[2]
        elif comment := re.fullmatch(r"<!-- (file|run|prints): (.+)", line):
            language = "file" if comment[1] == "file" else comment[2]
            inside, hidden = Block(number + 1, language, (), {**said, comment[1]: comment[2], "hidden": ""}), True
        elif line:
            said = {}


def run(page: Path, folder: Path) -> list[Output]:
    """Run a page in a folder: everything that it shows as printed. Raises if a block fails, or is not looked at."""
    names: dict[str, Any] = {"__name__": "__main__", "published": published}
    outputs: list[Output] = []
    awaited: tuple[str, ...] | None = None  # what the last block printed, if the next may show it
    printer = False
    for block in blocks(page):
        where = f"{page.relative_to(ROOT)}, line {block.line}"
        place = folder / block.said.get("in", ".")
        if printer or (awaited is not None and block.language == "text"):
            outputs.append(Output(block.line, block.lines, awaited or (), figures="figures" not in block.said))
            awaited, printer = None, False
            continue
        if awaited:
            raise AssertionError(f"{where}: the block before it prints something that the page does not show")
        awaited, printer = None, "prints" in block.said
        if "not run" in block.said:
            continue
        if "file" in block.said:
            (folder / block.said["file"]).write_text(block.text, encoding="utf-8")
            if block.language not in {"toml", "json"}:
                continue
        shown, awaited = _done(block, names, place, where)
        outputs += shown
    if awaited:
        raise AssertionError(f"{page.name}: the last block prints something that the page does not show")
    return outputs


def _done(block: Block, names: dict[str, Any], place: Path, where: str) -> tuple[list[Output], tuple[str, ...] | None]:
    """Run one block: what it shows as printed, and what it printed that the next block may show."""
    match block.language:
        case "console":
            return list(_console(block, place, where)), None
        case "python":
            return [], _python(block.text, names, place)
        case "sql":
            return [], _sql(block.text, place)
        case "toml":
            tomllib.loads(block.text)
        case "json":
            json.loads(block.text)
        case language:
            raise AssertionError(f"{where}: a block in `{language}` that is neither run nor marked `not run`")
    return [], None


def _console(block: Block, place: Path, where: str) -> Iterator[Output]:
    """Run the commands of a block."""
    starts = [at for at, line in enumerate(block.lines) if line.startswith("$ ")]
    if not starts or starts[0] != 0:
        raise AssertionError(f"{where}: a session starts with `$ ` and a command")
    for start, end in zip(starts, [*starts[1:], len(block.lines)], strict=True):
        shown = block.lines[start + 1 : end]
        status, printed = _command(shlex.split(block.lines[start][2:]), place)
        wanted = int(block.said.get("exit", "0")) if end == len(block.lines) else 0
        refused = any(line.startswith(("error: ", '{"error"')) for line in shown)
        if (status == 0) if refused else (status != wanted):
            raise AssertionError(f"{where}: `{block.lines[start]}` left with {status}:\n" + "\n".join(printed))
        if shown:
            yield Output(block.line + start + 1, shown, printed, figures="figures" not in block.said)


def _command(words: Sequence[str], place: Path) -> tuple[int, tuple[str, ...]]:
    """Run a command: its exit status, and what it printed on both streams."""
    from discreet.cli import main

    if words[:2] == ["python", "-c"]:
        return 0, _python(words[2], {}, place)
    if words[0] != "discreet":
        raise AssertionError(f"`{words[0]}` is not run here; mark the block `not run`, with the reason")
    status = 0
    with _captured(place) as screen, mock.patch.object(sys, "argv", list(words)):
        try:
            main()
        except SystemExit as leaving:
            status = leaving.code if isinstance(leaving.code, int) else 0
    return status, _lines(screen)


def _python(text: str, names: dict[str, Any], place: Path) -> tuple[str, ...]:
    with _captured(place) as screen:
        exec(compile(text, "page", "exec"), names)  # noqa: S102 - our own pages
    return _lines(screen)


def _sql(text: str, place: Path) -> tuple[str, ...]:
    import duckdb

    with _captured(place) as screen, duckdb.connect() as connection:
        print(str(connection.sql(text)).rstrip())
    return _lines(screen)


@contextlib.contextmanager
def _captured(place: Path) -> Iterator[io.StringIO]:
    screen = io.StringIO()
    with contextlib.chdir(place), contextlib.redirect_stdout(screen), contextlib.redirect_stderr(screen):
        yield screen


def _lines(screen: io.StringIO) -> tuple[str, ...]:
    return tuple(line.rstrip() for line in screen.getvalue().rstrip("\n").split("\n")) if screen.getvalue() else ()


def _compared(lines: Sequence[str], *, figures: bool) -> list[str]:
    """Lines without what differs from run to run; where that changes widths, without widths."""
    text = "\n".join(lines)
    masked = FRACTION.sub(lambda number: f"{float(number[0]):.9g}", text)
    for pattern, name in NOT_COMPARED:
        masked = pattern.sub(name, masked)
    if not figures:
        masked = FIGURE.sub("(figure)", masked)
    if masked != text:
        masked = re.sub(r"[ ─]+", " ", masked)
    return masked.split("\n")


def published(columns: Mapping[str, Any], groups: Sequence[int], to: str, *, apart: bool = False, **policy: Any) -> Any:
    """A release with given groups, for pages that show those of a paper.

    If it is `apart`, releases after it are drawn as if it were not there.
    """
    import numpy as np
    import pyarrow as pa

    import discreet
    from discreet.publication.publish import publish_groups
    from discreet.values.random import RandomSource

    secret = RandomSource(SEED) if apart else RandomSource()
    secret.from_seed = False  # type: ignore[attr-defined]
    rules = discreet.Policy(**policy)
    with discreet.read(pa.table(dict(columns))) as table:
        codes = table.codes(rules.sensitive)
        return publish_groups(table, rules, codes, np.array(groups, np.int32), to=Path(to), secret=secret)


@contextlib.contextmanager
def same_chance() -> Iterator[None]:
    """Let what is drawn from the operating system be the same in every run, and still count as such."""
    from discreet.values.random import RandomSource

    start = RandomSource.__init__
    seeds = itertools.count(SEED)  # every release draws anew

    def begin(self: RandomSource, seed: int | None = None) -> None:
        start(self, next(seeds) if seed is None else seed)
        self.from_seed = seed is not None  # type: ignore[attr-defined]

    with (
        mock.patch.object(RandomSource, "__init__", begin),
        mock.patch.object(RandomSource, "seeded", property(lambda self: self.from_seed)),
    ):
        yield


def prepare(folder: Path) -> None:
    """What every page starts from."""
    from pyarrow import csv

    from discreet.table.people import people

    csv.write_csv(people(10_000), folder / "patients.csv")
    for block in blocks(README):
        if block.said.get("file") == "policy.toml":
            (folder / "policy.toml").write_text(block.text, encoding="utf-8")


def start(prepared: Path, folder: Path) -> None:
    """A folder for one page, from the one in which the README was run."""
    shutil.copytree(prepared / "releases" / "2026-12", folder / "releases" / "2026-12")
    for name in ("patients.csv", "policy.toml"):
        shutil.copy(prepared / name, folder)


def rewrite(page: Path, outputs: Sequence[Output]) -> bool:
    """Write what is printed now into a page; whether anything changed."""
    lines = page.read_text(encoding="utf-8").splitlines()
    changed = [output for output in outputs if output.differs]
    for output in sorted(changed, key=lambda output: -output.line):
        lines[output.line - 1 : output.line - 1 + len(output.shown)] = output.as_now
    if changed:
        page.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return bool(changed)


def main() -> None:
    """Run all pages, or those that are named, and write what they print now into them."""
    named = [Path(name).resolve() for name in sys.argv[1:]] or list(PAGES)
    with tempfile.TemporaryDirectory() as place:
        for number, page in enumerate(PAGES):
            if page not in named and page != README:
                continue
            folder = Path(place) / str(number)
            folder.mkdir()
            if page == README:
                prepare(folder)
            else:
                start(Path(place) / "0", folder)
            with same_chance():
                outputs = run(page, folder)
            print(f"{page.relative_to(ROOT)}: {'written anew' if rewrite(page, outputs) else 'as it was'}", flush=True)


if __name__ == "__main__":
    main()
