"""The command line: every command is a help text, a library call, and a print."""

from __future__ import annotations

import io
import sys
from typing import Annotated

import typer

import discreet
from discreet.cli import (
    ask,
    audit,
    compare,
    demo,
    draw,
    init,
    inspect,
    learn,
    move,
    publish,
    report,
    reproduce,
    show,
    show_release,
    store,
    vault,
    verify,
)
from discreet.errors import DiscreetError

app = typer.Typer(
    name="discreet",
    help="Publish tables about people without publishing the people, and still answer questions about them.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
COMMANDS = (
    *(inspect.inspect, init.init, compare.compare, publish.publish, show_release.show, ask.ask),
    *(learn.learn, draw.draw, verify.verify, move.load, move.dump, store.store, audit.audit),
    *(report.report, reproduce.reproduce, demo.demo),
)
for command in COMMANDS:
    app.command(no_args_is_help=command is not demo.demo)(command)
app.add_typer(vault.app)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"discreet {discreet.__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    """Publish tables about people without publishing the people, and still answer questions about them."""


def main() -> None:
    """Run a command.

    Exit status 0 done, 1 error, 2 wrong usage, 3 the guarantee cannot be met, 4 verification failed.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that knows only ASCII
    with show.nothing_that_steers():
        try:
            app()
        except DiscreetError as error:
            show.failure(error, in_json="--json" in sys.argv)
            sys.exit(error.exit_status)
        except KeyboardInterrupt:
            print("stopped", file=sys.stderr)
            sys.exit(130)
