"""A text as quantities, clauses and terms, before any sign is looked for.

digits            digits of every script
units             units of measure, and the factors between them
korean_numerals   Korean and Chinese numerals
numerals          numbers in digits and in words, shares, multiples, ordinals
quantities        numbers with their units, and their comparison
clauses           sentences and clauses with their tokens
matching          terms of a claim found in passages, across languages by the glossary
lexicon           words and patterns of direction, negation and hedging
"""
