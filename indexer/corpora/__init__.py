"""Papers of corpora: reading, cleaning, chunking, and normal forms for comparison."""
