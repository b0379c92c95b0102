"""Groups of neighbouring sensitive values, for k distinct values and a range of e."""
