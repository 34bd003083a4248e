"""Questions of several steps, without a model: which ones they are, and a second round of searches."""
