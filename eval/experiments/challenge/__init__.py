"""Parts of the experiment `challenge`: the columns of its files, the form of answers, measures, memory."""
