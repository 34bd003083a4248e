"""Model calls as steps: prompts that fit the context, replies, and budgets."""
