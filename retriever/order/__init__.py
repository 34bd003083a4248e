"""The order of a question's candidates, made from the tokens that are stored with them: a step a file."""
