"""What is configured, what is there, what is wrong and how to mend it: `shrag doctor`."""
