"""HTTP transport: requests, responses, their limits and streams."""
