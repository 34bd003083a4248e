"""Signs in the numbers of a claim.

labels        numbers with the words and conditions beside them
missing       numbers that no passage contains or implies
exchanged     numbers with the words of another number
conditions    numbers of another group or condition
subjects      numbers of another name or counted thing
bounds        other or reversed bounds
changes       reversed changes, other amounts and directions of change
orders        comparisons and superlatives that the numbers contradict
"""
