"""The citation graph of an index, collected during a build and stored as a file of the version.

`references.py` parses a record's references, `gathering.py` collects the data for matching, `matching.py`
finds the cited papers, `writing.py` writes the graph, `graph.py` reads it.
"""
