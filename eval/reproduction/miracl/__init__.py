"""Parts of the experiment `miracl`: the files of the corpus, and its index."""
