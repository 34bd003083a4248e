"""Bundles for machines without internet, collected on a connected one and verified there: `shrag bundle`."""
