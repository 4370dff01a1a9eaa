"""`CorpusComponent`: a corpus described in a `defs.yaml`, and its scaffolder."""

from typing import Any, Self

import dagster as dg
import yaml
from pydantic import BaseModel

from corpus_assets.defs.corpus import build_corpus
from corpus_assets.spec import CorpusSpec


class ScaffoldOptions(BaseModel):
    """Options of `dg scaffold defs corpus_assets.CorpusComponent NAME`."""

    inputs: str = "data/*.jsonl.gz"
    source: str = "documents"
    license_spdx: str = "CC0-1.0"
    url: str = "https://example.org"


class CorpusScaffolder(dg.Scaffolder[ScaffoldOptions]):
    """Writes a `defs.yaml` that loads, for a new corpus."""

    @classmethod
    def get_scaffold_params(cls) -> type[ScaffoldOptions]:
        """Return the options."""
        return ScaffoldOptions

    def scaffold(self, request: dg.ScaffoldRequest[ScaffoldOptions]) -> None:
        """Write the file."""
        options = request.params
        source = {
            "id": options.source,
            "license_spdx": options.license_spdx,
            "url": options.url,
            "inputs": [options.inputs],
        }
        attributes = {
            "name": request.target_path.name.lower(),
            "sources": [source],
            "recipe": ["non_empty", {"length": {"min_chars": 200}}],
        }
        request.target_path.mkdir(parents=True, exist_ok=True)
        text = {"type": "corpus_assets.CorpusComponent", "attributes": attributes}
        path = request.target_path / "defs.yaml"
        path.write_text(yaml.safe_dump(text, sort_keys=False), encoding="utf-8")


@dg.scaffold_with(CorpusScaffolder)
class CorpusComponent(dg.Component):
    """A training corpus: raw documents to filtered, deduplicated, scrubbed, verifiable shards."""

    def __init__(self, spec: CorpusSpec) -> None:
        """Describe the corpus."""
        self.spec = spec

    @classmethod
    def get_model_cls(cls) -> type[BaseModel]:
        """Return the model of `attributes`."""
        return CorpusSpec

    @classmethod
    def get_spec(cls) -> dg.ComponentTypeSpec:
        """Return what `dg list components` shows."""
        return dg.ComponentTypeSpec(description=cls.__doc__, tags=["corpus", "llm"])

    @classmethod
    def load(cls, attributes: Any, context: dg.ComponentLoadContext) -> Self:  # noqa: ARG003
        """Return the component of a `defs.yaml`.

        `{{ env.NAME }}` in paths stays as written, for the digest of the spec, and is filled in
        where the files are looked for; so the command line reads the same file alike.
        """
        return cls(attributes)

    def build_defs(self, context: dg.ComponentLoadContext) -> dg.Definitions:
        """Return the definitions; relative inputs start at the folder of the `defs.yaml`."""
        return build_corpus(self.spec, context.path)
