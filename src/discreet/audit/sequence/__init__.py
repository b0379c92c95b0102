"""What the releases of a growing table tell together, from their files alone."""
