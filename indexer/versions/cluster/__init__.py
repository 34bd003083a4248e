"""An Elasticsearch cluster: how it is reached, what an index in it is made of, and its versions there."""
