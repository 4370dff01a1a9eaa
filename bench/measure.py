"""What a command costs, by the kernel's account of it; and on what machine."""

import json
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

MIB = 1 << 20
PACKAGES = ("corpus-assets", "dagster", "numpy", "polars", "pyarrow")


class BenchError(Exception):
    """A command failed, or what it wrote is not what it must be."""


@dataclass(frozen=True)
class Cost:
    """What one command took, with all the processes that it started and waited for."""

    cpu: float
    """Seconds, user and system."""
    peak: float
    """Largest resident memory of one process, in MiB."""
    said: Any
    """The JSON that it printed last, if any."""


def cost_of(
    command: Sequence[str],
    python: str = sys.executable,
    environment: Mapping[str, str] = os.environ,
) -> Cost:
    """Run a command of Python to its end; what it says beside its output is shown if it fails.

    This process must stay small: the kernel counts the memory of a process from its fork on.

    Raises:
        BenchError: It failed.
    """
    with tempfile.TemporaryFile("w+") as log:
        process = subprocess.Popen(
            [python, *command], stdout=subprocess.PIPE, stderr=log, text=True, env=environment
        )
        with process:
            output = process.stdout.read() if process.stdout else ""
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            log.seek(0)
            message = f"{' '.join(command)}: ended with code {process.returncode}.\n{log.read()}"
            raise BenchError(message)
    last = output.strip().rpartition("\n")[2]
    said = json.loads(last) if last.startswith("{") else None
    return Cost(usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024 / MIB, said)


def peer() -> str:
    """Return the Python of the environment that has datatrove: PEER, or `.venv-datatrove`.

    Raises:
        BenchError: There is none.
    """
    folder = os.environ.get("PEER", Path(__file__).parents[1] / ".venv-datatrove")
    python = Path(folder).absolute() / "bin" / "python"
    if not python.exists():
        message = f"no {python}: `make parity` makes an environment, the variable PEER names one."
        raise BenchError(message)
    return str(python)


def peak_mib() -> float:
    """Return the largest resident memory of this process since it began to run.

    What the kernel says of a child counts the memory of its parent at the fork as well.
    """
    lines = Path("/proc/self/status").read_text(encoding="ascii", errors="replace").splitlines()
    (peak,) = [int(line.split()[1]) for line in lines if line.startswith("VmHWM")]
    return peak / 1024


def machine() -> dict[str, Any]:
    """Return the machine, its load, and the versions of what is measured."""
    return {
        "cpu": _processor(),
        "cores": len(os.sched_getaffinity(0)),
        "memory_gib": round(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30, 1),
        "load": round(os.getloadavg()[0], 1),
        "system": platform.platform(),
        "python": platform.python_version(),
        **{name: version(name) for name in PACKAGES},
    }


def _processor() -> str:
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    names = [line.partition(": ")[2] for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()
