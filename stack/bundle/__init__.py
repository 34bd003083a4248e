"""What an isolated machine needs, collected on a connected one and checked there: `shrag bundle`."""
