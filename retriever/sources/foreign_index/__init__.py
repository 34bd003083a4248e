"""A foreign Elasticsearch or OpenSearch index: requests, answers, settings."""
