"""Which paper of an index refers to which: gathered while a version is built, kept with it as a file.

`references.py` reads a record's references, `gathering.py` keeps what matching needs of all records,
`matching.py` finds the papers that references name, `writing.py` writes the graph, `graph.py` reads it.
"""
