"""Text of documents as MinHash compares it: normalised, then split into words.

Both work on batches held as Arrow strings are: one buffer of UTF-8 and the offsets of the
documents in it. Bytes are those of datatrove 0.10.1. Imports nothing that compiles or is heavy.
"""
