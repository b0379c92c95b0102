"""Full domain: one level of every hierarchy for all rows."""
