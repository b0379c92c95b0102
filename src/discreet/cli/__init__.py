"""The command line: every command is a help text, a library call, and a print."""

from __future__ import annotations

import io
import sys
from collections.abc import Sequence
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


def _seen(words: Sequence[str]) -> None:
    """Warn of a password in a URL: the system shows every user the words of every process."""
    if not any("postgres" in word for word in words):
        return
    from discreet.engines.address import Address

    places = (place for word in words for place in (word, word.partition("=")[2]))
    if any(found.has_password for place in places if (found := Address.of(place)) is not None):
        print(
            "warning: a password in the URL of a command is shown to other users of this machine, in the list of"
            " processes; leave it out, and give it in PGPASSWORD, ~/.pgpass or a service file",
            file=sys.stderr,
        )


def main() -> None:
    """Run a command.

    Exit status 0 done, 1 error, 2 wrong usage, 3 the guarantee cannot be met, 4 verification failed.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that knows only ASCII
    with show.nothing_that_steers():
        try:
            _seen(sys.argv[1:])
            app()
        except DiscreetError as error:
            show.failure(error, in_json="--json" in sys.argv)
            sys.exit(error.exit_status)
        except KeyboardInterrupt:
            print("stopped", file=sys.stderr)
            sys.exit(130)
