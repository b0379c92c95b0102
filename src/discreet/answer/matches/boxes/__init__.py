"""How many rows of each group satisfy a condition, where only the boxes of the rows are known."""

from discreet.answer.matches.boxes.published import PublishedBoxes, check_joined
from discreet.answer.matches.boxes.tight import Given, TightBoxes, check_generalized

__all__ = ["Given", "PublishedBoxes", "TightBoxes", "check_generalized", "check_joined"]
