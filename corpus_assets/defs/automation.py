"""When a corpus is built: its job, its schedule, and the sensor that watches its inputs."""

from pathlib import Path

import dagster as dg
from pydantic import BaseModel

from corpus_assets.core.errors import InputError
from corpus_assets.core.files import digest_of_json
from corpus_assets.core.receipt import Stamp
from corpus_assets.spec import CorpusSpec

CORPUS_TAG = "corpus_assets/corpus"
"""Run tag with the name of the corpus: limit runs per value, and none is built twice at once."""


def build_job(spec: CorpusSpec) -> dg.JobDefinition:
    """Return the job that brings a corpus up to date, checks included."""
    return dg.define_asset_job(  # pyright: ignore[reportReturnType]
        f"{spec.identifier}_rebuild",
        selection=dg.AssetSelection.groups(spec.identifier),
        description=f"Bring the corpus {spec.name} up to date; what is unchanged is taken over.",
        tags={CORPUS_TAG: spec.name},
    )


def build_schedules(spec: CorpusSpec, job: dg.JobDefinition) -> list[dg.ScheduleDefinition]:
    """Return the rebuild schedule, if the corpus has one; stopped unless it says otherwise."""
    if spec.schedule is None:
        return []
    return [
        dg.ScheduleDefinition(
            name=f"{spec.identifier}_schedule",
            job=job,
            cron_schedule=spec.schedule.cron,
            execution_timezone=spec.schedule.timezone,
            default_status=dg.DefaultScheduleStatus.RUNNING
            if spec.schedule.running
            else dg.DefaultScheduleStatus.STOPPED,
            description=f"Rebuild {spec.name} by the clock.",
        )
    ]


class Seen(BaseModel):
    """The sensor's cursor: digests of the input listing, never a wall clock."""

    last: str = ""
    """What the look before saw."""
    built: str = ""
    """What the last rebuild was started for."""


def build_sensor(spec: CorpusSpec, base: Path, job: dg.JobDefinition) -> dg.SensorDefinition:
    """Return the sensor that starts a rebuild when two looks in a row see the same changed inputs.

    A file that is being copied changes size and time between two looks, and waits. There is no run
    key: Dagster remembers those for ever, and inputs that change back are a change too.
    """

    @dg.sensor(
        name=f"{spec.identifier}_inputs",
        job=job,
        minimum_interval_seconds=spec.watch.every_seconds,
        default_status=dg.DefaultSensorStatus.RUNNING
        if spec.watch.running
        else dg.DefaultSensorStatus.STOPPED,
        description=f"Rebuild {spec.name} when its input files have changed and settled.",
    )
    def watch(context: dg.SensorEvaluationContext) -> dg.SensorResult:
        seen = Seen.model_validate_json(context.cursor) if context.cursor else Seen()
        try:
            now = listing_digest(spec, base)
        except (InputError, OSError) as error:
            return dg.SensorResult(
                skip_reason=str(error), cursor=Seen(built=seen.built).model_dump_json()
            )
        if now == seen.built:
            cursor = Seen(last=now, built=now)
            return dg.SensorResult(skip_reason="inputs unchanged", cursor=cursor.model_dump_json())
        if now != seen.last:
            cursor = Seen(last=now, built=seen.built)
            return dg.SensorResult(
                skip_reason="inputs changed; waiting until they are still",
                cursor=cursor.model_dump_json(),
            )
        cursor = Seen(last=now, built=now)
        request = dg.RunRequest(tags={CORPUS_TAG: spec.name})
        return dg.SensorResult(run_requests=[request], cursor=cursor.model_dump_json())

    return watch


def listing_digest(spec: CorpusSpec, base: Path) -> str:
    """Return a digest of names, sizes and times of a corpus's input files."""
    stamps = [(file.name, Stamp.of(file.path)) for file in spec.files(base)]
    return digest_of_json([[name, stamp.bytes, stamp.mtime_ns] for name, stamp in stamps])
