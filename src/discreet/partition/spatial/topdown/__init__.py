"""Topdown: part the rows around two far ones, and mend what is too small."""
