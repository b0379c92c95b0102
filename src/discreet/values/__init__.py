"""What both sides of a release may know of a column: its type, its values as positions and as codes. No I/O."""
