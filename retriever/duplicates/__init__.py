"""Records of one paper, copies of one text, and texts that state nothing.

same_paper          whether two records are one paper: identifiers, titles and texts
compared_texts      similarity of two texts
folding             hits of one paper, or of one text, as one hit
repeated_questions  texts that repeat the question
english_questions   questions by the order of their words
statements          texts that state something; others are no evidence
"""
