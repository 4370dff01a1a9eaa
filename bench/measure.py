"""What a command costs, by the kernel's account of it; and on what machine."""

import json
import os
import platform
import subprocess
import sys
from collections.abc import Sequence
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


def cost_of(command: Sequence[str], python: str = sys.executable) -> Cost:
    """Run a command of Python to its end.

    This process must stay small: the kernel counts the memory of a process from its fork on.

    Raises:
        BenchError: It failed.
    """
    process = subprocess.Popen([python, *command], stdout=subprocess.PIPE, text=True)
    with process:
        output = process.stdout.read() if process.stdout else ""
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        message = f"{' '.join(command)}: ended with code {process.returncode}."
        raise BenchError(message)
    last = output.strip().rpartition("\n")[2]
    said = json.loads(last) if last.startswith("{") else None
    return Cost(usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024 / MIB, said)


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
