"""Answers and paper finding with a language model behind an OpenAI-compatible endpoint, or without one.

    answered = ask("How can thermal runaway be slowed?", "papers", evidence=3)
    found = find_papers("thermal runaway in battery packs", "papers", papers=50)

`pipeline.ask` and `pipeline.find` serve scripts, `pipeline.answer_question` an open index;
`finding.finding.find_papers` finds papers. `calls` and `finding.calls` declare the options.
"""
