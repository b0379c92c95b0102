"""What a release shows of its groups, whatever its publication, and which of its rows may be whose.

shown     the groups of a release and who may be in them: rows as they are, `boxed`, or `shuffled`
looks     who looks like whom, and what the rows that look like a person say of them
matched   how many rows could be a person's
"""
