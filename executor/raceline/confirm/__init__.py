"""Runs a program again and again with its streams held back, delayed or synchronized, and compares what it computes."""
