"""Runs of topics, their scores and significance; experiments.

    shrag eval run TOPICS --out RUN; shrag eval score QRELS RUN; shrag eval compare QRELS RUN_A RUN_B
    shrag experiment NAME TOPICS QRELS --out FOLDER

`experiments` has the tables and figures of the papers, `judging` the making of benchmarks.
"""
