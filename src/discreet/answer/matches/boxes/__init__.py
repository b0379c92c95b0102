"""How many rows of each group satisfy a condition, where only the boxes of the rows are known."""
