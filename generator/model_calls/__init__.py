"""A call of the language model as a step: its prompt within the context, its reply as a value, its budget."""
