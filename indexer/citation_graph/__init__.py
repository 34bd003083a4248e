"""Citations among the papers of a corpus.

`gathering` collects the records as columns, `matching` finds the cited papers, `graph` writes and reads them.
"""
