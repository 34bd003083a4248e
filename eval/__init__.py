"""Topics and judgements to runs, measures and tests of significance, and the experiments made of them."""
