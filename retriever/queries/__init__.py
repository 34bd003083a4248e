"""Boolean queries as values, filters, and the plan of a question."""
