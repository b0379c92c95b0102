"""A private table and its policy, opened together: the policy says how the file is written, the table what must fit."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from typing import Any

from discreet.errors import InternalError, Mistake, PolicyError
from discreet.policy import Given, Policy, unfit
from discreet.policy.meant import Meant
from discreet.publication.prepare import problems
from discreet.table import Table, read


def opened_under(
    source: Any, policy: Given, opened: ExitStack, *, memory_limit: str | None = None
) -> tuple[Table, Policy]:
    """The table and the policy, held against each other; every mistake of the policy is reported at once."""
    found: list[tuple[Table, Meant]] = []

    def fits(meant: Meant) -> list[Mistake]:
        if meant.csv is None or meant.excel is None:  # nobody can tell how the file is to be read
            return []
        table = opened_with(source, meant.csv, meant.excel, opened, memory_limit=memory_limit)
        found.append((table, meant))
        return unfit(table.columns, look=table.look)(meant)

    try:
        rules = Policy.of(policy, check=fits)
    except PolicyError as error:
        besides = problems(*found[0]) if found else ()
        raise PolicyError(error.mistakes, source=error.source, problems=besides) from None
    if not found:
        raise InternalError("a policy was used without being checked against its table")
    return found[0][0], rules


def opened_with(
    source: Any,
    csv: Mapping[str, Any],
    excel: Mapping[str, Any],
    opened: ExitStack,
    *,
    memory_limit: str | None = None,
) -> Table:
    """A table as it is, or read, and closed when all is done."""
    if isinstance(source, Table):
        return source
    return opened.enter_context(read(source, csv=csv, excel=excel, memory_limit=memory_limit))
