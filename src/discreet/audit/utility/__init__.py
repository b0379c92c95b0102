"""Utility: what people ask of a table, what the table itself answers, and how near the answers of a release come."""
