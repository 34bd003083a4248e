"""Parts of the experiments on answers: questions with references, records of answers, and their tables."""
