"""First check of a sentence of an answer against the passages that it cites, without a model."""
