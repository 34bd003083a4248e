"""Vectors brought to unit length, and refused where they have no direction."""

import numpy as np

from indexer.encoders.arrays import Vectors


def of_unit_length(rows: Vectors, before: int = 0) -> Vectors:
    """Return rows divided by their lengths.

    Args:
        rows: one vector a text.
        before: texts that stood before the first one, for the message.

    Raises:
        ValueError: a row holds a number that is none (NaN, infinity) or nothing but zeros; it says which.
    """
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows, dtype=np.float64))
    bad = np.flatnonzero(~(np.isfinite(lengths) & (lengths > 0)))
    if len(bad):
        others = f" and {len(bad) - 1:,} more" if len(bad) > 1 else ""
        what = "nothing but zeros" if lengths[bad[0]] == 0 else "a number that is none (NaN or infinity)"
        raise ValueError(f"the vector of text {before + int(bad[0])}{others}, counted from 0, holds {what}")
    unit: Vectors = (rows / lengths[:, np.newaxis]).astype(np.float32)
    return unit
