"""A copy of the project in a folder of its own, and a real `dagster dev` that serves it."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar

REPOSITORY = Path(__file__).parents[1]
COPIED = (
    "corpus_assets",
    "examples",
    "docs",
    "dagster.yaml",
    "workspace.yaml",
    "pyproject.toml",
    "README.md",
)
LOCATION = "corpus_assets"
START_SECONDS = 240
"""A loaded machine takes long; a quiet one 8 s."""

Value = TypeVar("Value")


def copy_project(folder: Path) -> Path:
    """Copy what a code location is made of, so that a test may change it."""
    for name in COPIED:
        source = REPOSITORY / name
        if source.is_dir():
            # Compiled kernels are copied along: to compile them again would take 12 s.
            ignored = shutil.ignore_patterns("*.pyc")
            shutil.copytree(source, folder / name, ignore=ignored)
        elif source.exists():
            folder.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, folder / name)
    return folder


def environment(project: Path, **variables: str) -> dict[str, str]:
    """Return an environment in which the copy is imported, and nothing of ours is written.

    Without DAGSTER_HOME the history lies where `dagster.yaml` says: in the copy.
    """
    ours = ("DAGSTER_", "CORPUS_ASSETS_", "COV_CORE", "COVERAGE_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    path = os.pathsep.join([str(Path(sys.executable).parent), kept.get("PATH", "")])
    return kept | {"PYTHONPATH": str(project), "PATH": path, "NO_COLOR": "1"} | variables


def wait_for(what: str, look: Callable[[], Value], seconds: float = 120) -> Value:
    """Look again and again until there is something true to return; fail after `seconds`."""
    end = time.monotonic() + seconds
    while not (value := look()):
        if time.monotonic() > end:
            message = f"{what}: not within {seconds} s"
            raise AssertionError(message)
        time.sleep(0.3)
    return value


def free_port() -> int:
    """Return a port of this machine that nothing listens on."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


@contextmanager
def dagster_dev(project: Path, **variables: str) -> Iterator["DagsterDev"]:
    """Serve a copy of the project with `dagster dev` until the block ends."""
    port = free_port()
    log = project / "dagster_dev.log"
    command = [sys.executable, "-m", "dagster", "dev", "-h", "127.0.0.1", "-p", str(port)]
    with log.open("wb") as output:
        process = subprocess.Popen(
            command,
            cwd=project,
            env=environment(project, **variables),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=hear_signals,  # noqa: PLW1509 - one call that takes no lock
        )
    server = DagsterDev(f"http://127.0.0.1:{port}", project, process)
    try:
        server.wait_until_loaded(log)
        yield server
    finally:
        stop(process)


def hear_signals() -> None:
    """Undo what a shell does to jobs in the background.

    They ignore SIGINT; Dagster handles SIGTERM as it handles SIGINT, and would never stop.
    """
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def stop(process: subprocess.Popen[bytes]) -> None:
    """End a server and what it started."""
    process.terminate()
    try:
        process.wait(60)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@dataclass(frozen=True)
class DagsterDev:
    """A running `dagster dev`, talked to as its own pages do: through GraphQL."""

    url: str
    project: Path
    process: subprocess.Popen[bytes]

    def query(self, query: str, **variables: Any) -> dict[str, Any]:
        """Return the data of a GraphQL query or mutation."""
        body = json.dumps({"query": query, "variables": variables}).encode()
        request = urllib.request.Request(
            f"{self.url}/graphql", body, {"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=60) as response:
            answer = json.load(response)
        assert not answer.get("errors"), answer["errors"]
        return answer["data"]

    def wait_until_loaded(self, log: Path) -> None:
        """Wait until the code location is loaded; an answer alone does not mean that it is."""

        def loaded() -> bool:
            assert self.process.poll() is None, log.read_text(errors="replace")
            try:
                return self._is_loaded()
            except OSError:
                return False

        try:
            wait_for("dagster dev", loaded, START_SECONDS)
        except AssertionError as error:
            error.add_note(log.read_text(errors="replace"))
            raise

    def _is_loaded(self) -> bool:
        data = self.query(
            "{workspaceOrError{__typename ... on Workspace{locationEntries{loadStatus"
            " locationOrLoadError{__typename ... on PythonError{message}}}}}}"
        )
        entries = data["workspaceOrError"].get("locationEntries", [])
        kinds = [(entry["locationOrLoadError"] or {}).get("__typename") for entry in entries]
        return kinds == ["RepositoryLocation"]

    def selector(self, **names: Any) -> dict[str, Any]:
        """Return a GraphQL selector of something in the code location."""
        return {
            "repositoryName": "__repository__",
            "repositoryLocationName": LOCATION,
            **names,
        }

    def launch(self, job: str) -> str:
        """Launch a job; return the id of its run."""
        data = self.query(
            "mutation($p:ExecutionParams!){launchRun(executionParams:$p){__typename"
            " ... on LaunchRunSuccess{run{runId}} ... on PythonError{message}}}",
            p={"selector": self.selector(pipelineName=job), "runConfigData": {}, "mode": "default"},
        )
        assert data["launchRun"]["__typename"] == "LaunchRunSuccess", data
        return data["launchRun"]["run"]["runId"]

    def status(self, run: str) -> str:
        """Return the status of a run."""
        return self.query(
            "query($r:ID!){runOrError(runId:$r){... on Run{status}}}", r=run
        )["runOrError"]["status"]  # fmt: skip

    def wait_for_end(self, run: str, seconds: float = 240) -> str:
        """Return the status that a run ends with."""
        ends = {"SUCCESS", "FAILURE", "CANCELED"}
        return wait_for(
            f"end of run {run}",
            lambda: status if (status := self.status(run)) in ends else "",
            seconds,
        )

    def runs(self) -> list[dict[str, Any]]:
        """Return id, job and status of all runs, the newest first."""
        return self.query(
            "{runsOrError{... on Runs{results{runId jobName status}}}}"
        )["runsOrError"]["results"]  # fmt: skip

    def group(self, name: str) -> dict[str, Any]:
        """Return a GraphQL selector of an asset group."""
        return self.selector(groupName=name)

    def start_schedule(self, name: str) -> None:
        """Switch a schedule on."""
        data = self.query(
            "mutation($s:ScheduleSelector!){startSchedule(scheduleSelector:$s){__typename}}",
            s=self.selector(scheduleName=name),
        )
        assert data["startSchedule"]["__typename"] == "ScheduleStateResult", data

    def start_sensor(self, name: str) -> None:
        """Switch a sensor on."""
        data = self.query(
            "mutation($s:SensorSelector!){startSensor(sensorSelector:$s){__typename}}",
            s=self.selector(sensorName=name),
        )
        assert data["startSensor"]["__typename"] == "Sensor", data

    def ticks(self, kind: Literal["schedule", "sensor"], name: str) -> list[dict[str, Any]]:
        """Return status, runs and reason of skipping of each tick, the newest first."""
        title = kind.title()
        data = self.query(
            f"query($s:{title}Selector!){{{kind}OrError({kind}Selector:$s){{... on {title}{{"
            f"{kind}State{{ticks{{status runIds skipReason}}}}}}}}}}",
            s=self.selector(**{f"{kind}Name": name}),
        )
        return data[f"{kind}OrError"][f"{kind}State"]["ticks"]

    def launched_by(self, kind: Literal["schedule", "sensor"], name: str) -> str:
        """Return the first run that a schedule or sensor launched; empty if none yet."""
        runs = [run for tick in self.ticks(kind, name) for run in tick["runIds"]]
        return runs[-1] if runs else ""

    def terminate(self, run: str) -> None:
        """Terminate a run as the button does."""
        data = self.query(
            "mutation($r:String!){terminateRun(runId:$r){__typename"
            " ... on TerminateRunFailure{message} ... on PythonError{message}}}",
            r=run,
        )
        assert data["terminateRun"]["__typename"] == "TerminateRunSuccess", data
