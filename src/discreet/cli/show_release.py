"""`discreet show`: what a release is."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from discreet.cli import show as printed
from discreet.cli.places import RELEASE, place


def show(
    release: Annotated[Path, typer.Argument(metavar="RELEASE", parser=place, help=RELEASE)],
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show what a release is: its columns, what it promises, its files, and a question that it answers.

    Anyone who holds the folder can run it. It checks that the files are the ones that were published; `verify` checks
    what they promise.

    Example: discreet show releases/2026-11
    """
    import discreet
    from discreet.release.summary import columns, example, naming, sentences

    opened = discreet.open_release(release)
    manifest, question = opened.manifest, example(opened.manifest)
    if json:
        files = [
            {"path": path, "rows_of": each.name, "bytes": file.stat().st_size}
            for each in manifest.resources
            for path, file in zip(each.paths, opened.files(each.name), strict=True)
        ]
        told = {"columns": [each._asdict() for each in columns(manifest)], "files": files, "example": question}
        printed.as_json({"release": release, "promise": opened.promise.model_dump(exclude_none=True), **told})
        return
    for line in sentences(manifest):
        print(line)
    print()
    printed.as_table(["column", "type", "role"], columns(manifest), left=3)
    print()
    printed.as_table(
        ["file", "columns", "bytes"],
        [[each.pattern, ", ".join(each.table.names()), f"{opened.bytes(each.name):,}"] for each in manifest.resources],
        left=2,
    )
    if odd := naming((*opened.promise.columns, opened.promise.table)):
        print(f"\n{odd}")
    print(f"\nAsk it, for example:\n  discreet ask {release} {_quoted(question)}")


def _quoted(text: str) -> str:
    from shlex import quote

    return f'"{text}"' if not set(text) & set('"\\$`!') else quote(text)
