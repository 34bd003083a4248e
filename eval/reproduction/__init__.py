"""Tables and figures of the three papers, made on the user's own index and judgements.

    shrag experiment query-success TOPICS QRELS --name papers --out folder
    shrag experiment repeat folder
    shrag experiment diff folder other

An experiment is a module of `experiments/` with a constant `EXPERIMENT` (`experiment.py`). Its results are a
folder (`folder.py`): a manifest, the values of each topic, runs, figures, and a page.
"""
