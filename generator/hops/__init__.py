"""Questions of several steps with a model: their plan, each step's question and answer, all the evidence."""
