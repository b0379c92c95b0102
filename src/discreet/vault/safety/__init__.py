"""What all releases of a vault together leave open, and the rule that they must keep."""
