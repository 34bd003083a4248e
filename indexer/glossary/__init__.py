"""The Korean–English glossary of a corpus, mined from brackets and keyword lists."""
