"""Plausible tables: what each row of a release may hold, drawn from its files alone, for any analysis."""
