"""The best path through MeCab's lattice around user words, as nori computes it.

At each place nori considers the longest user word only, plus an unknown word that is tried beside known ones.
A user word that does not end after an earlier one is ignored. MeCab's lattice contains all words, so its best
path may differ from nori's. The path is therefore searched again with nori's cost of a user word, which does
not fit MeCab's 16 bits; among equal paths the earlier start wins.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple, Optional

import _mecab

from indexer.analysis.dictionary import (
    MARKS,
    NORI_USER_COST,
    SPACE_PENALTY_IDS,
    USER_MARK,
    connection_costs,
)

SPACE_PENALTY = 3000
PENALISED = frozenset(SPACE_PENALTY_IDS)


class Step(NamedTuple):
    """The best path to a word: its cost so far, the word (None at the first step), and its start."""

    cost: int
    right_id: int
    node: _mecab.Node | None
    start: int  # in bytes, including the white space before the word
    before: Optional["Step"]


def best_path(
    text: str, lattice: _mecab.Lattice, longest: Mapping[int, int], begin: int, stop: int
) -> list[tuple[_mecab.Node, int]]:
    """Return the words of the best path, each with its start in bytes; none if there is no path.

    The search covers `begin` to `stop`; each is an end of the text or next to a word on all paths. `longest`
    maps the start of a user word to the end of the longest one there, in characters. The lattice covers the
    whole text.
    """
    costs, row = connection_costs()
    byte = last = len(text[:begin].encode())
    final = byte + len(text[begin:stop].rstrip(" ").encode())
    ways: dict[int, list[Step]] = {byte: [Step(0, 0, None, 0, None)]}
    reached = 0
    for place, character in enumerate(text[begin:stop], begin):
        steps = ways.get(byte)
        here = byte
        byte += len(character.encode())
        if not steps:
            continue
        word = place + 1 if character == " " else place
        end = longest.get(word)
        nodes = list(_nodes(lattice, here))[::-1]
        # MeCab also tries unknown words of one and two syllables, nori only the whole run.
        run = max((node.length for node in nodes if node.stat == _mecab.MECAB_UNK_NODE), default=0)
        for node in nodes:
            word_cost = node.wcost
            if end is not None:
                if USER_MARK in node.feature:
                    if end <= reached or len(node.surface) != end - word:
                        continue
                    word_cost = NORI_USER_COST
                elif node.stat != _mecab.MECAB_UNK_NODE:
                    continue
            if node.stat == _mecab.MECAB_UNK_NODE and (
                node.length < run or _takes_space(node.surface, text[word : word + 2])
            ):
                continue
            if node.rlength != node.length and node.posid in PENALISED:
                word_cost += SPACE_PENALTY
            left = row * node.lc_attr
            best = min(steps, key=lambda step: step.cost + costs[step.right_id + left])
            cost = best.cost + costs[best.right_id + left] + word_cost
            after = here + node.rlength
            ways.setdefault(after, []).append(Step(cost, node.rc_attr, node, here, best))
            last = max(last, after)
        reached = max(reached, end or 0)
    if last < final:
        return []
    step: Step | None = min(ways[last], key=lambda step: step.cost + costs[step.right_id])
    path = []
    while step is not None and step.node is not None:
        path.append((step.node, step.start))
        step = step.before
    return path[::-1]


def _takes_space(surface: str, text: str) -> bool:
    """Check whether nori's unknown word would include the following space, a dictionary mark in that case."""
    return surface in MARKS and text[1:2] == " "


def _nodes(lattice: _mecab.Lattice, byte: int) -> Iterator[_mecab.Node]:
    node = lattice.begin_nodes(byte)
    while node is not None:
        yield node
        node = node.bnext
