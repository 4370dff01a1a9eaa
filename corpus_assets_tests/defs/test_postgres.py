"""`docs/dagster.prod.yaml` against a real PostgreSQL server."""

import os
import secrets
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pytest
import yaml

from corpus_assets.shards.build import Corpus
from corpus_assets_tests.dagster_dev import REPOSITORY, environment, free_port
from corpus_assets_tests.defs.scenario import KEPT, SOURCE, TALES, key, write_lines

pytestmark = pytest.mark.postgres
PROGRAMS = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: path.parent.name)


def under(folder: Path, program: str, *arguments: object) -> None:
    """Run a program of PostgreSQL; not as root, which it refuses."""
    found = shutil.which("initdb")
    programs = Path(found).parent if found else PROGRAMS[-1] if PROGRAMS else None
    assert programs, "no PostgreSQL server found; install it (Debian: apt-get install postgresql)"
    user = ["runuser", "-u", "postgres", "--"] if os.getuid() == 0 else []
    command = [*user, programs / program, *map(str, arguments)]
    with (folder / "log").open("a") as log:
        code = subprocess.run(command, cwd=folder, check=False, stdout=log, stderr=log).returncode
    assert code == 0, (folder / "log").read_text()


@pytest.fixture(scope="module")
def server() -> Iterator[dict[str, str]]:
    """Run a PostgreSQL server on a free port; yield the variables that name it."""
    port, password = free_port(), secrets.token_hex(16)
    # Not in pytest's folder, which only its owner may enter; and short, as it holds a socket.
    folder = Path(tempfile.mkdtemp(prefix="corpora-pg-"))
    try:
        (folder / "password").write_text(password)
        if os.getuid() == 0:
            for path in (folder, folder / "password"):
                shutil.chown(path, "postgres", "postgres")
        cluster = ("-D", folder / "data")
        login = ("-U", "corpora", "--pwfile", folder / "password", "--auth", "scram-sha-256")
        under(folder, "initdb", *cluster, *login, "--encoding", "UTF8", "--no-sync")
        options = f"-p {port} -k {folder} -c listen_addresses=127.0.0.1 -c fsync=off"
        under(folder, "pg_ctl", *cluster, "-w", "-t", 120, "-o", options, "start")
        try:
            yield {
                "DAGSTER_PG_HOST": "127.0.0.1",
                "DAGSTER_PG_PORT": str(port),
                "DAGSTER_PG_DB": "postgres",
                "DAGSTER_PG_USERNAME": "corpora",
                "DAGSTER_PG_PASSWORD": password,
            }
        finally:
            under(folder, "pg_ctl", *cluster, "-w", "-m", "fast", "stop")
    finally:
        shutil.rmtree(folder)


def test_a_build_is_recorded_in_postgres_by_the_production_configuration(
    server, tmp_path, monkeypatch
):
    home = tmp_path / "home"
    home.mkdir()
    shutil.copy(REPOSITORY / "docs/dagster.prod.yaml", home / "dagster.yaml")
    write_lines(tmp_path / "tales/one.jsonl", TALES)
    attributes = {"name": "tales", "sources": [SOURCE], "recipe": [{"length": {"min_chars": 5}}]}
    described = {"type": "corpus_assets.CorpusComponent", "attributes": attributes}
    (tmp_path / "defs.yaml").write_text(yaml.safe_dump(described))
    variables = server | {"DAGSTER_HOME": str(home)}
    subprocess.run(
        ["corpus-assets", "build", "defs.yaml", "--root", "corpora", "--workers", "0"],
        cwd=tmp_path,
        env=environment(REPOSITORY, **variables),
        check=True,
    )
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with dg.DagsterInstance.get() as instance:
        (run,) = instance.get_runs()
        assert run.status is dg.DagsterRunStatus.SUCCESS
        event = instance.get_latest_materialization_event(key("corpus"))
        assert event is not None
        materialization = event.asset_materialization
        assert materialization is not None
        assert materialization.metadata["dagster/row_count"].value == KEPT
        digest = Corpus.open(tmp_path / "corpora/tales/corpus").digest
        assert (materialization.tags or {})["dagster/data_version"] == digest
    assert not list(home.rglob("*.db"))


def test_the_production_configuration_holds_no_password():
    text = (REPOSITORY / "docs/dagster.prod.yaml").read_text()
    database = yaml.safe_load(text)["storage"]["postgres"]["postgres_db"]
    assert database["password"] == {"env": "DAGSTER_PG_PASSWORD"}
    assert database["scheme"] == "postgresql+psycopg2"
