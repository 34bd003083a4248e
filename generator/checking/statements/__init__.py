"""Signs in the statements of a claim, apart from its numbers.

directions        words of direction: rose, lower, 감소
opposites         the opposite direction
themes            the opposite direction of the same theme
comparisons       comparisons with exchanged sides, or with their baseline as the better one
roles             actor and object exchanged, or the authors replaced
negations         a negation on one side only
effects           an effect instead of none, or none instead of an effect
replaced_terms    a term replaced by another one
names             missing names
substances        names of drugs and chemicals
coverage          missing words: of a clause, of the whole claim, or "all" and "never"
"""
