"""What the tests of runs share."""

from __future__ import annotations

import pytest

from tests.nightly.local import begin_run, facts, without_spark


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory):
    """The facts of a run that nothing happened to."""
    with pytest.MonkeyPatch.context() as patch, without_spark(patch):
        out = tmp_path_factory.mktemp("undisturbed") / "run"
        result = begin_run(out)
    assert (result.state, result.answer.exit_code, len(result.rows)) == ("complete", 12, 4)
    return facts(out)
