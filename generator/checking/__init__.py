"""Check of a claim, a sentence of an answer, against the passages that it cites.

Each module imports only from later ones:

sentence_check   claim and passages to supported, unsupported or not checkable, with reasons
signs            the table of signs
parsing          the parts of a text that signs compare
numbers/         signs in numbers
statements/      signs in statements
text/            quantities, clauses, terms

The tables of words (`opposites.tsv`, `rivals.tsv`, `universals.tsv`, `countries.tsv`) are in this folder.
"""
