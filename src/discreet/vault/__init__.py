"""The vault: a private folder that takes in a growing table, and releases that together tell no more than one."""
