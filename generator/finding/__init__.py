"""Paper finding after SPAR (Shi et al. 2025, section 3): a list of papers with reasons for a question.

calls      options of the command and the API, with their bounds
request    a request with its budget (`generator/budgets.py` counts the spending)
finding    a search for papers, from opened sources to its result
loop       the order of the agents
agents/    steps of a search: one file per agent
state      papers, judgements and queries so far
so_far     partial results of a running search, saved in a file
events     events of a running search
result     the papers found, as values and JSON
console    output of the command
commands   `shrag find-papers`
"""
