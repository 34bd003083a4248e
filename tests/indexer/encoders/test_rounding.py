"""How vectors are rounded for keeping, and what their cosines are then."""

import numpy as np
import pytest

from indexer.encoders.rounding import cosines, rounded


def test_int8_is_the_unit_vector_times_127():
    kept = rounded(np.array([[0.6, -0.8], [1.0, 0.0]], np.float32), "int8")

    assert kept.dtype == np.int8
    assert kept.tolist() == [[76, -102], [127, 0]]  # 76.2 and -101.6


def test_a_number_that_float32_put_over_one_is_clipped():
    assert rounded(np.array([[1.01, -1.01]], np.float32), "int8").tolist() == [[127, -127]]


def test_the_cosine_of_int8_rows_is_that_of_the_whole_numbers():
    rows = np.array([[3, 4], [4, -3], [-3, -4]], np.int8)

    assert cosines(rows, np.array([3, 4], np.int8)).tolist() == [1.0, 0.0, -1.0]


def test_a_row_of_zeros_is_like_nothing():
    assert cosines(np.zeros((1, 4), np.int8), np.array([1, 2, 3, 4], np.int8)).tolist() == [0.0]


@pytest.mark.parametrize("dimensions", [768, 4096])
def test_the_sums_of_int8_products_are_exact_whatever_their_order(dimensions):
    rows = np.full((1, dimensions), 127, np.int8)
    rows[0, 0] = 1
    turned = rows[:, ::-1]
    vector = np.full(dimensions, 127, np.int8)

    assert cosines(rows, vector).tolist() == cosines(turned, vector).tolist()


def test_rounding_to_int8_moves_a_cosine_by_less_than_a_hundredth():
    numbers = np.random.default_rng(7).standard_normal((50, 384)).astype(np.float32)
    unit = numbers / np.linalg.norm(numbers, axis=1, keepdims=True)

    kept = rounded(unit, "int8")

    assert np.abs(cosines(kept, kept[0]) - unit @ unit[0]).max() < 0.01
