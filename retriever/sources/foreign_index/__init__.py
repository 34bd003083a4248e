"""An Elasticsearch or OpenSearch index that somebody else built: requests, answers, settings."""
