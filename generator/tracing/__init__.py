"""Steps of a question, recorded as a tree, and traces as files."""
