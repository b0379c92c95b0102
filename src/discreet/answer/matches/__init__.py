"""How many rows of each group satisfy a condition, by the way in which a release shows its rows."""

from discreet.answer.matches.counted import Counted
from discreet.answer.matches.margins import Margins
from discreet.answer.matches.matches import Matches
from discreet.answer.matches.swapped import Swapped

__all__ = ["Counted", "Margins", "Matches", "Swapped"]
