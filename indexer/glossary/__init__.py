"""The Korean–English glossary that a corpus holds: in brackets, keyword lists and bilingual titles."""
