"""Groups of rows that lie near each other, by the quasi-identifiers."""
