"""The prompt of `discreet ask`: questions over several lines, completion with the tab key, a few commands.

Lines are edited by Python's own `readline`: it has history, search and completion, and is there wherever Python is; a
library would add colours. History is kept in memory only: what somebody asks about people may say whom they look for.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from discreet.answer.estimators import ESTIMATORS, check_known
from discreet.answer.shown import Shown, shown
from discreet.cli import show
from discreet.cli.asking import Asking
from discreet.cli.completing import Completion
from discreet.cli.questions import is_complete, split
from discreet.errors import DiscreetError, QueryError
from discreet.release.summary import columns, naming, sentences
from discreet.visible import in_a_line
from discreet.words import nearest

if TYPE_CHECKING:
    from discreet.answer import Answer

FIRST, NEXT = "ask> ", "...> "
EXAMPLES, WIDEST = 5, 20  # values that `.columns` shows, and signs of each
HELP = """A question is SQL and ends with `;`. It may go over several lines.
  .columns  or \\d      the columns: type, role, some values
  .explain             the SQL that computed the last answer
  .estimator NAME      how estimates are made: {}; without a name, as the release says
  .help     or \\?      this text
  .quit     or Ctrl-D  leave
Tab completes words of SQL, columns, and values after a quote. Ctrl-C drops the question that is being written or
answered. Questions are kept for the arrow keys until you leave, and in no file."""


@dataclass
class Prompt:
    """One sitting: what is asked how, the question that was answered last, and what was typed of the next one."""

    asking: Asking
    show: Callable[[Answer], None]
    last: str = ""
    typed: str = ""
    known: dict[str, Shown] = field(default_factory=dict)

    def run(self) -> None:
        """Ask for questions until there is no more; an error ends none but its own."""
        print(f"{in_a_line(next(iter(sentences(self.asking.release.manifest))))}", file=sys.stderr)
        print("Write a question in SQL and end it with `;`, or .help", file=sys.stderr)
        with _completed(self._completion, lambda: self.typed):
            while (line := self._line()) is not None:
                try:
                    if not self._take(line):
                        return
                except DiscreetError as error:
                    show.failure(error, in_json=False)
                except KeyboardInterrupt:
                    print("stopped; ask another question", file=sys.stderr)

    def _line(self) -> str | None:
        """The next line; none at the end. Ctrl-C drops what was typed."""
        while True:
            try:
                return input(NEXT if self.typed else FIRST)
            except KeyboardInterrupt:
                self.typed = ""
                print(file=sys.stderr)
            except EOFError:
                print(file=sys.stderr)
                return None
            except UnicodeDecodeError:
                show.failure(QueryError("the line is not UTF-8 text", hint="type it again"), in_json=False)

    def _take(self, line: str) -> bool:
        """Do what a line says, or keep it for the rest of its question; False to leave."""
        if not self.typed and line.strip().startswith((".", "\\")):
            return self._command(*line.split(maxsplit=1))
        if not self.typed and line.strip().lower().rstrip(";") in {"exit", "quit"}:
            return False
        text = f"{self.typed}{line}\n" if (self.typed or line.strip()) else ""
        self.typed = "" if is_complete(text) else text
        if text and not self.typed:
            for each in split(text):
                self.last = each.sql
                self.show(self.asking.answer(each.sql))
        return True

    def _command(self, name: str, rest: str = "") -> bool:
        found = self._commands.get(name.rstrip(";"))
        if found is None:
            raise QueryError(f"`{name}` is not a command", hint=nearest(name, self._commands))
        if found == self._quit:
            return False
        found(rest.strip().rstrip(";"))
        return True

    @cached_property
    def _commands(self) -> dict[str, Callable[[str], None]]:
        return {
            ".columns": self._columns,
            "\\d": self._columns,
            ".explain": self._explain,
            ".estimator": self._estimator,
            ".help": self._help,
            "\\?": self._help,
            ".quit": self._quit,
            "\\q": self._quit,
        }

    def _columns(self, _: str) -> None:
        rows = [[*each, self._examples(each.name)] for each in columns(self.asking.release.manifest)]
        show.as_table(["column", "type", "role", "values"], rows, left=4)
        if told := naming(row[0] for row in rows):
            print(told)

    def _explain(self, question: str) -> None:
        if not (question or self.last):
            raise QueryError("no question was asked yet", hint="write .explain and a question")
        print(self.asking.explain(question or self.last))

    def _estimator(self, name: str) -> None:
        check_known(name or None)
        self.asking = replace(self.asking, estimator=name or None)
        print(f"estimates are made by `{name}`" if name else "estimates are made as the release says", file=sys.stderr)

    def _help(self, _: str) -> None:
        print(HELP.format(", ".join(ESTIMATORS)), file=sys.stderr)

    def _quit(self, _: str) -> None:
        """Leave; it is `_command` that does."""

    def _shown(self, name: str) -> Shown:
        if name not in self.known:
            self.known[name] = shown(self.asking.release, name)
        return self.known[name]

    def _examples(self, name: str) -> str:
        found = self._shown(name)
        some = [_short(value) for value in found.values[:EXAMPLES]]
        if found.values and (len(found.values) <= EXAMPLES or isinstance(found.low, str)):
            return ", ".join([*some, *(["…"] if len(found.values) > EXAMPLES else [])])
        return "–" if found.low is None else f"{_short(found.low)} … {_short(found.high)}"

    @cached_property
    def _completion(self) -> Completion:
        promise = self.asking.release.promise
        names = [each.name for each in columns(self.asking.release.manifest)]
        tables = dict.fromkeys(("microdata", promise.table))
        commands = [f"{name} " if name == ".estimator" else name for name in self._commands]
        return Completion([*tables], names, self._texts, commands, [*ESTIMATORS])

    def _texts(self, column: str) -> list[str]:
        return [value for value in self._shown(column).values if isinstance(value, str)]


def _short(value: object) -> str:
    text = in_a_line(str(value))
    return text if len(text) <= WIDEST else f"{text[: WIDEST - 1]}…"


@contextmanager
def _completed(completion: Completion, typed: Callable[[], str]) -> Iterator[None]:
    """While inside, the tab key completes; where Python has no `readline`, lines are read as they are."""
    try:
        import readline
    except ImportError:
        yield
        return

    def complete(_: str, number: int) -> str | None:
        """The candidate of that number, from where readline takes the word to start."""
        try:
            before = typed() + readline.get_line_buffer()[: readline.get_endidx()]
            start, found = completion.of(before)
            from_here = len(typed()) + readline.get_begidx() - start
            return found[number][from_here:] if number < len(found) else None
        except DiscreetError:  # in the midst of a line there is no place to say it: asking will
            return None

    before = readline.get_completer(), readline.get_completer_delims()
    readline.set_completer(complete)
    readline.set_completer_delims(" \t\n()=<>,;*+-/")
    readline.set_auto_history(True)
    libedit = "libedit" in (readline.__doc__ or "")
    readline.parse_and_bind("bind ^I rl_complete" if libedit else "tab: complete")
    try:
        yield
    finally:
        readline.set_completer(before[0])
        readline.set_completer_delims(before[1])
        readline.clear_history()
