"""A benchmark made from a corpus: questions, a pool of papers, judgements by models and by persons.

    shrag benchmark questions folder seeds.tsv
    shrag benchmark pool folder --name papers
    shrag benchmark judge folder coarse
    shrag benchmark confirm folder --assessor kim
    shrag benchmark report folder --out made

The stages follow SPARBench (SPAR, section 4.2 and figure 3). The state is one table of records in a file of
the folder (`benchmark.py`): each step appends to it, and resumes after its last record.
"""
