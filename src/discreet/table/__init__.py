"""The private table: read from files and frames, encoded to integer codes, profiled."""

from discreet.table.profile import inspect
from discreet.table.read import read
from discreet.table.table import Table
from discreet.values.columns import Column

__all__ = ["Column", "Table", "inspect", "read"]
