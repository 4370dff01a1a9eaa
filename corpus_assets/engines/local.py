"""The local engine: worker processes of this machine, one rank each, that never outlive us."""

import os
import pickle
import socket
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from multiprocessing.connection import Connection, wait
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from corpus_assets.core.errors import WorkerError

THREAD_LIMITS = dict.fromkeys(
    ("POLARS_MAX_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "OMP_THREAD_LIMIT"), "1"
)
"""One thread of kernels per worker: there are as many workers as cores."""

POLL_SECONDS = 1.0
"""How long a wait may last before signals of the main thread are looked at."""

KILL_SECONDS = 2.0


@dataclass
class Worker:
    """One process and our end of the socket to it."""

    process: subprocess.Popen[bytes]
    connection: Connection


class LocalEngine:
    """Runs functions in worker processes, or in this process when `workers` is 0.

    Workers are started at first use, serve every plan until `close`, and exit when this process
    does, however it ends: each watches its socket, which the kernel closes. They are plain
    subprocesses that import what they run, not `multiprocessing` ones: those import the parent's
    main module again, which is `dagster` in a run (4 s a worker).
    """

    def __init__(self, workers: int | None = None) -> None:
        """Prepare `workers` processes; by default one for each core this process may use."""
        self._size = len(os.sched_getaffinity(0)) if workers is None else workers
        self._workers: list[Worker] = []

    def __enter__(self) -> Self:
        """Return the engine."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End the workers."""
        self.close()

    def map_unordered(
        self, function: Callable[[Any], Any], items: Iterable[Any], *, inline: bool = False
    ) -> Iterator[Any]:
        """Yield `function(item)` for every item, as they finish.

        The first error, and any interruption, ends all workers at once and is raised as it is.

        Args:
            function: A function of an importable module.
            items: Its arguments; only as many as there are workers are taken ahead.
            inline: Run in this process, for work that is not worth a worker.

        Raises:
            WorkerError: A worker died (killed, or out of memory).
        """
        if inline or self._size == 0:
            yield from map(function, items)
            return
        try:
            yield from self._map(function, iter(items))
        except BaseException:
            self.close()
            raise

    def _map(self, function: Callable[[Any], Any], items: Iterator[Any]) -> Iterator[Any]:
        waiting = list(islice(items, self._size))
        while len(self._workers) < len(waiting):
            self._workers.append(start_worker())
        idle = list(self._workers)
        busy: dict[Connection, Worker] = {}
        while waiting or busy:
            while idle and waiting:
                worker = idle.pop()
                _send(worker, (function, waiting.pop(0)))
                busy[worker.connection] = worker
                waiting.extend(islice(items, 1))
            for ready in wait(list(busy), timeout=POLL_SECONDS):
                worker = busy.pop(ready)  # pyright: ignore[reportArgumentType]
                idle.append(worker)
                yield _receive(worker)

    def close(self) -> None:
        """End all workers now; nothing they did is published, and a rerun resumes."""
        workers, self._workers = self._workers, []
        for worker in workers:
            worker.process.terminate()
        for worker in workers:
            worker.connection.close()
            try:
                worker.process.wait(KILL_SECONDS)
            except subprocess.TimeoutExpired:
                worker.process.kill()
                worker.process.wait()


def start_worker() -> Worker:
    """Start one worker process."""
    ours, theirs = socket.socketpair()
    with theirs:
        descriptor = theirs.fileno()
        command = [sys.executable, "-m", "corpus_assets.engines.worker", str(descriptor)]
        paths = os.pathsep.join(path or str(Path.cwd()) for path in sys.path)
        environment = os.environ | THREAD_LIMITS | {"PYTHONPATH": paths}
        process = subprocess.Popen(  # noqa: S603 - our own module
            command, pass_fds=[descriptor], env=environment, stdin=subprocess.DEVNULL
        )
    return Worker(process, Connection(ours.detach()))


def _send(worker: Worker, message: object) -> None:
    try:
        worker.connection.send_bytes(pickle.dumps(message))
    except OSError as error:
        raise WorkerError(_obituary(worker)) from error


def _receive(worker: Worker) -> Any:
    try:
        good, value = pickle.loads(worker.connection.recv_bytes())  # noqa: S301 - our own worker
    except (EOFError, OSError) as error:
        raise WorkerError(_obituary(worker)) from error
    if not good:
        raise value
    return value


def _obituary(worker: Worker) -> str:
    code = worker.process.wait(KILL_SECONDS)
    return (
        f"worker process {worker.process.pid} ended with code {code} (-9: killed, often for want "
        f"of memory); run again: finished ranks are kept."
    )
