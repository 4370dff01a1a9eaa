"""A worker process: pickled (function, item) pairs come by its socket, results go back."""

import os
import pickle
import queue
import signal
import sys
import threading
import traceback
from multiprocessing.connection import Connection

import pyarrow as pa


def main(descriptor: int) -> None:
    """Serve until the other end closes; then exit at once, in the middle of work if need be."""
    # Ctrl-C reaches the whole terminal group; the parent decides what happens to us.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    pa.set_cpu_count(1)
    pa.set_io_thread_count(1)
    connection = Connection(descriptor)
    tasks: queue.Queue[bytes] = queue.Queue()
    threading.Thread(target=watch, args=(connection, tasks), daemon=True).start()
    while True:
        connection.send_bytes(run(tasks.get()))


def watch(connection: Connection, tasks: "queue.Queue[bytes]") -> None:
    """Queue what arrives; a closed socket means that the parent is gone."""
    try:
        while True:
            tasks.put(connection.recv_bytes())
    except (EOFError, OSError):
        os._exit(1)


def run(task: bytes) -> bytes:
    """Return the pickled outcome of one task: (True, result) or (False, error)."""
    try:
        function, item = pickle.loads(task)  # noqa: S301 - from our own parent
        return pickle.dumps((True, function(item)))
    except Exception as error:  # noqa: BLE001 - it is raised again in the parent
        error.add_note("".join(traceback.format_exception(error)))
        return dumps_error(error)


def dumps_error(error: Exception) -> bytes:
    """Return the pickled error, or one that says the same where it cannot be pickled back."""
    try:
        data = pickle.dumps((False, error))
        pickle.loads(data)  # noqa: S301 - just made here
    except Exception:  # noqa: BLE001 - any failure means the same
        data = pickle.dumps((False, RuntimeError("".join(traceback.format_exception(error)))))
    return data


if __name__ == "__main__":
    main(int(sys.argv[1]))
