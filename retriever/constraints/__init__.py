"""What a question excludes, and its years of publication."""
