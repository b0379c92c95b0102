"""The vault: a private folder that takes in a growing table, and releases it so that no two releases tell more than one."""
