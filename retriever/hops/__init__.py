"""Questions of several steps, without a model: a second round of searches."""
