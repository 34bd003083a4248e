"""The forward index of a version: the tokens of each passage as term numbers of a lexicon.

    passage ──► row (rows.py) ──► columns of all passages (columns.py), memory-mapped
    term ──► number (lexicon.py), with its document frequency

A search reads its candidates from here: counts, positions and names result from a few numpy calls. In a
cluster the row is a field of the passage's document, and the lexicon a file kept with the version.
"""
