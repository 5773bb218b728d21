"""Two nodes of a Ray cluster give the bytes that two processes of this machine give."""

from pathlib import Path

import pytest
from finetune_clips import make_clips, options, tree

from app.errors import InvalidRequest
from app.finetune.prepare import prepare

ray = pytest.importorskip(
    "ray",
    reason="the extra `ray` is not in the lock; to run this: "
    ".venv/bin/python -m pip install ray && .venv/bin/pytest tests/integration/test_finetune_ray.py",
)

pytestmark = pytest.mark.filterwarnings("ignore")  # Ray's own


def test_two_nodes_give_the_same_bytes(tmp_path: Path) -> None:
    from ray.cluster_utils import Cluster

    manifest = make_clips(tmp_path / "clips", 48)
    alone = prepare(manifest, str(tmp_path / "alone"), options(), lambda told: None)
    node = {"num_cpus": 1, "object_store_memory": 100_000_000}
    cluster = Cluster(initialize_head=True, head_node_args=node | {"include_dashboard": False})
    try:
        cluster.add_node(**node)
        cluster.wait_for_nodes()
        told = prepare(manifest, str(tmp_path / "spread"), options(ray=cluster.address), lambda told: None)
    finally:
        cluster.shutdown()
    assert told == alone
    assert tree(tmp_path / "spread") == tree(tmp_path / "alone")


def test_no_cluster_at_the_address_is_said(tmp_path: Path) -> None:
    manifest = make_clips(tmp_path / "clips", 8)
    with pytest.raises(InvalidRequest, match="No Ray cluster"):
        prepare(manifest, str(tmp_path / "set"), options(ray="127.0.0.1:1"), lambda told: None)
