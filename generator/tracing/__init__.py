"""Tree of the steps that answer a question, and trace files."""
