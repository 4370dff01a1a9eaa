"""A corpus as its YAML describes it: every fault is named with file, line and field."""

import re

import pytest
from pydantic import ValidationError

from corpus_assets.core.errors import InputError
from corpus_assets.spec import ScheduleSpec
from corpus_assets.spec_file import load_spec

GOOD = """\
type: corpus_assets.CorpusComponent
attributes:
  name: tiny
  sources:
    - id: tales
      license_spdx: CC0-1.0
      url: https://example.org/tales
      inputs: data/*.jsonl
    - id: poems
      license_spdx: mit
      url: https://example.org/poems
      inputs: [a.jsonl, b]
      text_key: body
  recipe:
    - non_empty
    - length: {min_chars: 3}
  shards: {shard_rows: 7}
"""

RECIPE = """\
recipe:
    - non_empty
    - length: {min_chars: 3}"""


def load(tmp_path, text, name="defs.yaml"):
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return load_spec(path)


def fault(tmp_path, text):
    with pytest.raises(InputError) as error:
        load(tmp_path, text)
    message = str(error.value)
    assert message.startswith(f"{tmp_path / 'defs.yaml'}:")
    return message.removeprefix(f"{tmp_path / 'defs.yaml'}:")


def test_a_good_spec_says_all_that_was_written(tmp_path):
    spec = load(tmp_path, GOOD)
    assert (spec.name, spec.version, spec.identifier) == ("tiny", "1", "tiny")
    tales, poems = spec.sources
    assert (tales.source_id, tales.inputs) == ("tales", ("data/*.jsonl",))
    assert (poems.license_spdx, poems.inputs) == ("MIT", ("a.jsonl", "b"))
    assert poems.reading().text_key == "body"
    assert [rule.name for rule in spec.rules.rules] == ["non_empty", "length"]
    assert (spec.shards.shard_rows, spec.shards.val_permille) == (7, 5)
    assert (spec.schedule, spec.max_bad_fraction, spec.dedup.exact) == (None, 0.01, True)


@pytest.mark.parametrize(
    ("old", "new", "line", "field", "wrong"),
    [
        ("  name: tiny\n", "", 2, "name", "Field required"),
        ("name: tiny", "name: Tiny!", 3, "name", "String should match pattern"),
        ("name: tiny", "name:", 3, "name", "valid string"),
        ("      license_spdx: CC0-1.0\n", "", 5, "sources.0.license_spdx", "Field required"),
        ("      license_spdx: mit\n", "", 9, "sources.1.license_spdx", "Field required"),
        ("      url: https://example.org/tales\n", "", 5, "sources.0.url", "Field required"),
        ("https://example.org/tales", "' '", 7, "sources.0.url", "must not be blank"),
        ("CC0-1.0", "Free", 6, "sources.0.license_spdx", "'Free' is not an SPDX licence"),
        ("CC0-1.0", "''", 6, "sources.0.license_spdx", "is not an SPDX licence"),
        ("      inputs: data/*.jsonl\n", "", 5, "sources.0.inputs", "Field required"),
        ("data/*.jsonl", "7", 8, "sources.0.inputs", "valid tuple"),
        ("id: poems", "id: tales", 2, "", "source ids must be unique; repeated: tales"),
        ("id: poems", "id: rejected", 9, "sources.1.id", "is the name of a folder in every table"),
        ("id: poems", "id: a/b", 9, "sources.1.id", "String should match pattern"),
        ("text_key", "txt_key", 13, "sources.1.txt_key", "unknown key"),
        ("body", "''", 13, "sources.1.text_key", "must not be blank"),
        ("shards: {", "shards: {val: 1, ", 17, "shards.val", "unknown key"),
        ("  shards", "  shard", 17, "shard", "unknown key"),
        ("rows: 7", "rows: 0", 17, "shards.shard_rows", "greater than or equal to 1"),
        ("rows: 7", "rows: 7, val_permille: 1001", 17, "shards.val_permille", "equal to 1000"),
        ("non_empty", "gopher", 14, "recipe", "unknown rule 'gopher'; there are non_empty, length"),
        ("min_chars", "min", 14, "recipe", "unknown setting min; it has min_chars, max_chars"),
        (RECIPE, "recipe: gopher", 14, "recipe", "must be `none`, `fineweb` or a list of"),
        ("shards: {shard_rows: 7}", "pii: {kinds: [fax]}", 17, "pii.kinds", "there are email, ip"),
        ("shards: {shard_rows: 7}", "dedup: {exact: 5}", 17, "dedup.exact", "valid boolean"),
        ("shards: {shard_rows: 7}", "max_bad_fraction: 1.5", 17, "max_bad_fraction", "equal to 1"),
        ("shards: {shard_rows: 7}", "schedule: {}", 17, "schedule.cron", "Field required"),
        ("shards: {shard_rows: 7}", "watch: {every_seconds: 1}", 17, "watch.every_seconds", "to 5"),
        ("shards: {shard_rows: 7}", "retry: {max_retries: -1}", 17, "retry.max_retries", "to 0"),
        ("shards: {shard_rows: 7}", "version: 1", 17, "version", "valid string"),
    ],
)
def test_a_fault_is_named_with_file_line_and_field(tmp_path, old, new, line, field, wrong):
    message = fault(tmp_path, GOOD.replace(old, new, 1))
    assert message.startswith(f"{line}: {field}: ")
    assert wrong in message
    assert message.count("\n") == 0


def test_an_empty_list_of_sources_is_a_fault(tmp_path):
    text = re.sub(r"sources:\n.*text_key: body\n", "sources: []\n", GOOD, flags=re.DOTALL)
    assert fault(tmp_path, text).startswith("4: sources: ")


def test_every_fault_is_named_in_a_line_of_its_own(tmp_path):
    text = GOOD.replace("CC0-1.0", "Free").replace("text_key", "txt_key")
    assert [line.rpartition(".yaml:")[2][:2] for line in fault(tmp_path, text).split("\n")] == [
        "6:",
        "13",
    ]


@pytest.mark.parametrize(
    ("text", "line", "wrong"),
    [
        (GOOD + "  x: [1\n", 19, "is not YAML"),
        (GOOD + "\tx: 1\n", 18, "is not YAML"),
        (GOOD + "  ? [a]\n  : b\n", 18, "is not YAML"),
        ("", 1, "expected `type: corpus_assets.CorpusComponent`"),
        ("[]", 1, "expected `type: corpus_assets.CorpusComponent`"),
        ("type: other\nattributes: {}\n", 1, "expected `type: corpus_assets.CorpusComponent`"),
        ("type: corpus_assets.CorpusComponent\n", 1, "and `attributes:` at the top"),
        ("type: corpus_assets.CorpusComponent\nattributes:\n", 2, "dictionary"),
    ],
)
def test_what_is_no_corpus_is_named_with_its_line(tmp_path, text, line, wrong):
    message = fault(tmp_path, text)
    assert message.startswith(f"{line}: ")
    assert wrong in message


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        (b"\xff\xfe", "cannot be read"),
        (GOOD + "\x01", "special characters are not allowed"),
        (GOOD + "  version: 2024-13-45\n", "cannot be read (month must be in 1..12)"),
    ],
)
def test_what_cannot_be_read_is_named_with_the_file(tmp_path, text, wrong):
    assert wrong in fault(tmp_path, text)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(InputError, match=r"nothing\.yaml: cannot be read \(.*No such file"):
        load_spec(tmp_path / "nothing.yaml")


def test_the_digest_does_not_depend_on_where_the_file_lies(tmp_path):
    here = load(tmp_path, GOOD)
    there = load(
        tmp_path,
        "# a comment\n" + GOOD.replace("{shard_rows: 7}", "\n    shard_rows: 7"),
        "x/y.yaml",
    )
    assert here.digest == there.digest
    assert re.fullmatch("[0-9a-f]{64}", here.digest)


@pytest.mark.parametrize(
    ("old", "new"), [("rows: 7", "rows: 8"), ("data/*", "./data/*"), ("chars: 3", "chars: 4")]
)
def test_the_digest_moves_with_what_is_written(tmp_path, old, new):
    assert load(tmp_path, GOOD).digest != load(tmp_path, GOOD.replace(old, new)).digest


def test_relative_inputs_start_at_the_folder_given(tmp_path):
    (tmp_path / "data").mkdir()
    for name in ("data/b.jsonl", "data/a.jsonl", "a.jsonl", "b/c.jsonl"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    files = load(tmp_path, GOOD).files(tmp_path)
    assert [f.name for f in files] == [
        "tales/a.jsonl",
        "tales/b.jsonl",
        "poems/a.jsonl",
        "poems/c.jsonl",
    ]
    assert [f.config.source_id for f in files] == ["tales", "tales", "poems", "poems"]


def test_a_key_that_stands_twice_is_refused_with_its_line(tmp_path):
    path = tmp_path / "defs.yaml"
    path.write_text("type: corpus_assets.CorpusComponent\nattributes:\n  name: a\n  name: b\n")
    with pytest.raises(InputError, match=r"defs\.yaml:4: name stands twice"):
        load_spec(path)


@pytest.mark.parametrize(
    ("schedule", "field"),
    [({"cron": "nonsense"}, "cron"), ({"cron": "0 3 * * *", "timezone": "Mars"}, "timezone")],
)
def test_a_schedule_that_no_clock_has_is_refused(schedule, field):
    with pytest.raises(ValidationError, match=field):
        ScheduleSpec(**schedule)
