"""The shard format, tested from its specification alone."""
