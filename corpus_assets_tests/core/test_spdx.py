"""One spelling of each licence; OR needs one allowed licence, AND all of them."""

import pytest

from corpus_assets.core.spdx import is_allowed, normalised


@pytest.mark.parametrize(
    ("written", "spelled"),
    [
        ("MIT", "MIT"),
        ("mit", "MIT"),
        ("GPL-2.0", "GPL-2.0-only"),
        ("GPL-2.0+", "GPL-2.0-or-later"),
        ("mit or  apache-2.0", "MIT OR Apache-2.0"),
        ("MIT AND (ISC OR Zlib)", "MIT AND (ISC OR Zlib)"),
        ("LicenseRef-Public-Domain", "LicenseRef-Public-Domain"),
        ("DocumentRef-x:LicenseRef-y", "DocumentRef-x:LicenseRef-y"),
        ("GPL-2.0-only WITH Classpath-exception-2.0", "GPL-2.0-only WITH Classpath-exception-2.0"),
    ],
)
def test_an_expression_has_one_spelling(written, spelled):
    assert normalised(written) == spelled
    assert normalised(spelled) == spelled


@pytest.mark.parametrize(
    "written",
    ["", " ", "public domain", "CC0", "MIT OR", "MIT AND (ISC", "see LICENSE", "Proprietary"],
)
def test_what_is_no_expression_says_what_to_write_instead(written):
    with pytest.raises(ValueError, match="is not an SPDX licence expression") as error:
        normalised(written)
    assert repr(written) in str(error.value)
    assert "https://spdx.org/licenses, or LicenseRef-<name>" in str(error.value)


@pytest.mark.parametrize(
    ("expression", "allowed", "verdict"),
    [
        ("MIT", {"MIT"}, True),
        ("MIT", {"ISC"}, False),
        ("MIT", set(), False),
        ("MIT OR GPL-3.0-only", {"MIT"}, True),
        ("MIT AND GPL-3.0-only", {"MIT"}, False),
        ("MIT AND GPL-3.0-only", {"MIT", "GPL-3.0-only"}, True),
        ("MIT AND (ISC OR Zlib)", {"MIT", "Zlib"}, True),
        ("(MIT AND ISC) OR Zlib", {"MIT"}, False),
        ("MIT AND ISC", {"MIT AND ISC"}, True),
        ("LicenseRef-a", {"LicenseRef-a"}, True),
        ("LicenseRef-a", {"LicenseRef-b"}, False),
        (
            "GPL-2.0-only WITH Classpath-exception-2.0",
            {"GPL-2.0-only"},
            False,
        ),
    ],
)
def test_a_licence_is_allowed_by_any_of_an_or_and_all_of_an_and(expression, allowed, verdict):
    assert is_allowed(expression, allowed) is verdict
