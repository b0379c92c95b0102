"""All claims of the papers in one table, with what was measured: the page `docs/reproduction.md`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from discreet.errors import InputError
from discreet.experiments import experiments
from discreet.experiments.run import Result, kept, said

START, END = "<!-- claims: written by `discreet reproduce --report` -->", "<!-- end of claims -->"


def check(path: Path) -> None:
    """Raise unless the page can be written: better before the work than after it."""
    if path.is_dir():
        raise InputError(f"`{path}` is a folder", hint="name the file to write, like docs/reproduction.md")
    if not path.parent.is_dir():
        raise InputError(f"there is no folder `{path.parent}` for `{path.name}`", hint="make it, or name another file")


def write(folder: Path, path: Path) -> None:
    """Write what lies in a folder of results between its marks into a page, or into a new file.

    The rest of the page stays as it is. Figures of which the folder has no results are named.
    """
    check(path)
    found = {name: kept(each, folder) for name, each in experiments().items()}
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    before, _, rest = text.partition(START)
    after = rest.partition(END)[2]
    path.write_text(before + "\n".join([START, "", *_lines(found), "", END]) + (after or "\n"), encoding="utf-8")


def _lines(found: Mapping[str, Result | None]) -> Iterator[str]:
    there = [each for each in found.values() if each is not None]
    verdicts = [verdict for each in there for verdict in each.verdicts]
    held, seconds = sum(verdict.holds is True for verdict in verdicts), sum(each.seconds for each in there)
    yield f"{held} of {len(verdicts)} claims hold. Measured in {seconds / 60:,.1f} minutes of processor time."
    if lacking := [f"`{name}`" for name, each in found.items() if each is None]:
        yield f"Not measured yet: {', '.join(lacking)}."
    if earlier := [f"`{each.experiment.name}`" for each in there if each.earlier]:
        yield f"Measured by another state of discreet's code than this page was written by: {', '.join(earlier)}."
    paper = ""
    for each in there:
        own = each.experiment
        if own.paper != paper:
            paper = own.paper
            yield from ("", f"### {paper}", "", "| figure | the paper claims | measured | |", "|---|---|---|---|")
        for number, verdict in enumerate(each.verdicts):
            name = f"`{own.name}` {own.title} ({each.source}, {each.scale})" if number == 0 else ""
            outcome = said(verdict) if verdict.holds is not False else f"**{said(verdict)}**"
            why = f": {verdict.why}" if verdict.why else ""
            yield f"| {name} | {verdict.claim} | {verdict.measured} | {outcome}{why} |"
