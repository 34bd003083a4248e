"""The order of a question's candidates, computed from their rows of the forward index.

patterns            tokens, and adjacent tokens, counted in the rows
bm25                scores of patterns
features            BM25 by concepts (also of one passage), neighbouring words, windows of a text
feedback            terms of the best passages
candidate_features  all features of candidates
weights             all tuned weights of the order
score_parts         parts of each score, and their sum
bridges             names that lead from one passage to another
second_search       names in the best passages, and titles that these name

`retriever/methods/shrag.py` runs these steps, and adds the parts of the second search.
"""
