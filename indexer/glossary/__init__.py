"""The Korean–English glossary of a corpus, mined from brackets, keyword lists and bilingual titles."""
