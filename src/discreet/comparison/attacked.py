"""The worst attacker of a release: of all who guess sensitive values from it alone, the one who is right most often."""

from __future__ import annotations

from dataclasses import dataclass

from discreet.audit.attacks import run_attacks
from discreet.audit.attacks.attack import Given, Rate, Success
from discreet.release import Release
from discreet.table import Table

ALONE = ("learner", "order", "minimality")  # who need nothing beside the release


@dataclass(frozen=True, slots=True)
class Attacked:
    """The attack, how often it is right and how often a blind guess is; or why none was made."""

    name: str | None
    right: Rate | None = None
    blind: float | None = None
    why: str | None = None

    def cell(self) -> str:
        """The attack and its share, as they stand in a table."""
        return "not attacked" if self.right is None else f"{self.name} {self.right.share:.1%}"

    def told(self) -> str:
        if self.right is None or self.blind is None:
            return f"not attacked, which does not mean that the risk is low: {self.why}"
        share = f"{self.right.share:.1%} of the people ({self.right.low:.1%} to {self.right.high:.1%})"
        return f"the worst attacker, `{self.name}`, is right about {share}; a blind guess about {self.blind:.1%}"


def worst_attacker(release: Release, table: Table) -> Attacked:
    """Attack a release of a table."""
    if release.promise.sensitive is None:
        return Attacked(None, why="there is no sensitive column")
    truth = table.engine.run(table.select(list(release.promise.columns)))
    found = run_attacks(release, Given(truth=truth), ALONE)
    made = [each for each in found if isinstance(each, Success)]
    if not made:
        return Attacked(
            None, why="; ".join(f"{each.name}: {each.why}" for each in found if not isinstance(each, Success))
        )
    worst = max(made, key=lambda each: each.attacker.share)
    return Attacked(worst.name, worst.attacker, worst.blind.share)
