"""Multi-step questions: plan, question and answer of each step, and joint evidence."""
