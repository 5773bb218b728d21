"""A start that cannot succeed ends at once with one line that says what to do."""

import os
import subprocess
from pathlib import Path

import pytest
from started_server import COMMAND, ROOT


def failed_start(data_dir: Path, **settings: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"LEXICUE_DATA_DIR": str(data_dir), **settings}
    return subprocess.run(
        [*COMMAND, "serve", "--port", "0"], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120
    )


@pytest.mark.parametrize("model", ["./no-such-folder", "no-such-org/no-such-model"])
def test_no_model_names_the_three_ways(tmp_path: Path, model: str) -> None:
    """Also without network: the hub is asked once, nothing is retried (public report d06)."""
    done = failed_start(tmp_path / "data", LEXICUE_MODEL=model, HF_ENDPOINT="http://127.0.0.1:9")
    assert done.returncode == 1
    last = done.stderr.strip().splitlines()[-1]
    assert "LEXICUE_MODEL=bundled" in last
    assert "/path/to/folder" in last
    assert "on the hub" in last
    assert "Traceback" not in done.stderr


def test_bad_setting_is_named(tmp_path: Path) -> None:
    done = failed_start(tmp_path / "data", LEXICUE_PROMPT_BUDGET="900")
    assert done.returncode == 1
    assert "LEXICUE_PROMPT_BUDGET" in done.stderr


@pytest.mark.parametrize(
    "url", ["postgresql://u:SECRET@h:notaport/x", "postgresql://u:SECRET@127.0.0.1:1/x?foo=1", "mysql://u:SECRET@h/x"]
)
def test_an_address_that_is_none_is_said_without_its_password(tmp_path: Path, url: str) -> None:
    done = failed_start(tmp_path / "data", LEXICUE_DATABASE_URL=url)
    assert done.returncode == 1
    assert done.stderr.strip().splitlines()[-1].startswith("LEXICUE_DATABASE_URL: ")
    assert "SECRET" not in done.stderr
    assert "Traceback" not in done.stderr


def test_a_data_folder_that_cannot_be_one_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    done = failed_start(tmp_path / "file")
    assert done.returncode == 1
    assert done.stderr.strip().splitlines()[-1].startswith("LEXICUE_DATA_DIR: ")
    assert "Traceback" not in done.stderr
