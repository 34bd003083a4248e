"""Normalisation of vectors to unit length; vectors without a direction are rejected."""

import numpy as np

from indexer.encoders.arrays import Vectors


def of_unit_length(rows: Vectors, before: int = 0) -> Vectors:
    """Divide each row by its length.

    Args:
        rows: one vector per text.
        before: number of texts before the first one, for the message.

    Raises:
        ValueError: a row contains NaN or infinity, or only zeros; the message says which row.
    """
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows, dtype=np.float64))
    bad = np.flatnonzero(~(np.isfinite(lengths) & (lengths > 0)))
    if len(bad):
        others = f" and {len(bad) - 1:,} more" if len(bad) > 1 else ""
        what = "only zeros" if lengths[bad[0]] == 0 else "NaN or infinity"
        raise ValueError(f"vector of text {before + int(bad[0])}{others}, counted from 0, contains {what}")
    unit: Vectors = (rows / lengths[:, np.newaxis]).astype(np.float32)
    return unit
