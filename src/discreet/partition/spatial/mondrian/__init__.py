"""Mondrian: cut the rows in two at the median, and the parts again."""
