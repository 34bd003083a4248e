"""Patterns for letters of the two scripts."""

import re

HANGUL = re.compile("[\u1100-\u11ff\u3130-\u318f\uac00-\ud7a3]")  # syllables and jamo
LATIN = re.compile("[A-Za-z\u00c0-\u024f]")
