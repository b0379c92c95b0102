"""Statements: arithmetic, filters, orders and windows over the answers of core questions."""
