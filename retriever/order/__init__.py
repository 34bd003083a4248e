"""The order of a question's candidates, computed from their rows of the forward index.

concepts       words of the question with their translations, synonyms and other forms
patterns       tokens, and adjacent tokens, counted in the rows
bm25           scores of patterns
features       BM25 by concepts, neighbouring words
feedback       terms of the best passages
measured       all features of candidates
weights        weights of the features
scored         parts of each score, and their sum
bridges        names that lead from one passage to another
second_search  names in the best passages, and titles that these name
contributions  the score of one passage by concept
closeness      windows of a passage, for the likelihood of an answer
"""
