"""What a steward should look at before a release: doubts that a table or its groups raise, one kind per file."""
