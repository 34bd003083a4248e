"""The signs by which a sentence is compared with what it cites: one file a sign."""
