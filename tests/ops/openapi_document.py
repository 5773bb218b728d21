"""The OpenAPI document as it is kept beside the tests. `.venv/bin/python tests/ops/openapi_document.py` writes it anew
after a change that callers are meant to see."""

import json
from pathlib import Path

from app.main import create_app
from app.settings import Settings

KEPT = Path(__file__).with_name("openapi.json")


def document() -> str:
    made = create_app(Settings(_env_file=None)).openapi()
    made["info"]["version"] = "0"  # a release changes nothing for callers
    return json.dumps(made, indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    KEPT.write_text(document())
