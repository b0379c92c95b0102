"""Hierarchies: what belongs together when a value is made less exact, level by level, up to one root.

`load` reads one as a policy gives it; its `levels` are the hierarchy over the values of one column.
"""

from discreet.hierarchies.levels import Hierarchy, Levels
from discreet.hierarchies.load import load

__all__ = ["Hierarchy", "Levels", "load"]
