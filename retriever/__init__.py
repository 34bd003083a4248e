"""Questions to hits, without a language model.

    settings = RetrieverSettings()
    with open_index(IndexerSettings(), "papers") as index:
        result = await search(index, SearchCall(question="지식 그래프", k=5).request(settings), settings)

`index.open_index` opens an index, `search` runs the stages of a search, `calls` declares its options, and
`sources.gathered.open_sources` opens other search engines in the place of an index.
"""
