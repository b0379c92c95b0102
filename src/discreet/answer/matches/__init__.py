"""How many rows of each group satisfy a condition, by the way in which a release shows its rows."""
