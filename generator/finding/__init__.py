"""Paper finding after SPAR (Shi et al. 2025, section 3): a list of papers with reasons for a question.

calls      options of the command and the API, with their bounds; a request with its budget
finding    a search for papers, from opened sources to its result, as a loop of agents
agents/    steps of a search: one file per agent
state      papers, judgements and queries so far
events     events of a running search
result     the papers found, as values and JSON; partial results of a running search
console    output of the command
commands   `shrag find-papers`
"""
