"""Parts of the experiments on paper finding (SPAR, Shi et al. 2025).

inputs     options and inputs: judged papers, days of the questions
topic      a question with its judged papers, and searches for papers with the options of a call
reporting  tables of set measures, beside the published ones
"""
