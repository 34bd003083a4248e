"""References and in-text citations in the styles of journals: APA, Chicago, IEEE, Korean, MLA, Vancouver."""
