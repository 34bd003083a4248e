"""The Korean–English glossary that a corpus holds: in brackets, keyword lists and bilingual titles."""

from indexer.glossary.mining import GlossaryMiner, mine_glossary
from indexer.glossary.pairs import Pair
from indexer.glossary.storage import Glossary, Match, write_glossary

__all__ = ["Glossary", "GlossaryMiner", "Match", "Pair", "mine_glossary", "write_glossary"]
