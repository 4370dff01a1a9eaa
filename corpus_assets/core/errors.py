"""Errors that name what is wrong, where, what was found and what to do; never a document's text.

Each takes its whole message as the only argument, so that plain pickle carries it.
"""


class CorpusError(Exception):
    """An error that running the same thing again does not cure."""


class InputError(CorpusError):
    """The configuration or an input file is not what it must be."""


class DocumentError(CorpusError, ValueError):
    """A document, or an argument that describes the documents, breaks the format."""


class TableError(CorpusError):
    """A table on disk is missing, cut, edited or made by something else."""


class TargetError(CorpusError, FileExistsError):
    """An output folder holds something that is not ours to replace."""

    def __str__(self) -> str:
        """Return the message alone: OSError would add an empty errno."""
        return str(self.args[0])


class LawError(CorpusError):
    """Counts that must add up do not: a fault of a step, not of the input."""


class LockedError(CorpusError, BlockingIOError):
    """Another run is writing the same output."""

    def __str__(self) -> str:
        """Return the message alone: OSError would add an empty errno."""
        return str(self.args[0])


class WorkerError(Exception):
    """A worker process died; a second try may succeed, and resumes."""
