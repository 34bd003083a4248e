"""The first hits read again together with the question, by a cross-encoder, and put into its order."""

from indexer.errors import IndexerError
from indexer.vectors.adding import text_to_encode
from retriever.engines import EngineHit
from retriever.state import Ranked, SearchState

REREAD = frozenset({"paper", "shrag", "dense"})  # a baseline and an expression keep their order


async def reread(state: SearchState, ranked: Ranked) -> Ranked:
    """Order the first hits by the cross-encoder, if one is configured; the others stay behind them.

    Where it fails the order stays as it was, and the notes say so.
    """
    depth = state.settings.rerank_depth
    if state.request.method not in REREAD or not state.index.rereader.configured or not ranked:
        return ranked
    first, rest = ranked[:depth], ranked[depth:]
    stored = await state.passages(hit.passage_id for hit, _ in first)
    texts = [text_to_encode(stored[hit.passage_id]) for hit, _ in first]
    with state.timed("rerank"):
        try:
            model, scores = await state.index.rereader.scores(state.request.question, texts)
        except IndexerError as error:
            state.note(f"not re-ranked, the cross-encoder failed: {error}")
            return ranked
    state.reranked_by = model
    scored = list(zip((hit for hit, _ in first), scores, strict=True))
    ordered = sorted(scored, key=lambda one: (-one[1], one[0].passage_id))
    return ordered + _behind(rest, ordered[-1][1])


def _behind(rest: Ranked, lowest: float) -> list[tuple[EngineHit, float]]:
    """Keep the order of the rest, with scores below those of the first."""
    return [(hit, lowest - place) for place, (hit, _) in enumerate(rest, 1)]
