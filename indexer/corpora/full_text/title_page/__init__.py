"""Fields that the title page of a paper prints."""
