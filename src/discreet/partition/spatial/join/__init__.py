"""Groups of private rows together with public ones."""
