"""A Dockerfile as data: its stages, each a list of instructions, continuation lines joined."""

import json
import re
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Stage:
    """`instructions`: (NAME, rest of the line), in order."""

    image: str
    name: str
    instructions: list[tuple[str, str]] = field(default_factory=list)

    def all(self, name: str) -> list[str]:
        return [rest for instruction, rest in self.instructions if instruction == name]

    def environment(self) -> dict[str, str]:
        return dict(pair.split("=", 1) for line in self.all("ENV") for pair in line.split())

    def command(self) -> list[str]:
        (line,) = self.all("CMD")
        command: list[str] = json.loads(line)
        return command

    def healthcheck(self) -> list[str]:
        (line,) = self.all("HEALTHCHECK")
        command: list[str] = json.loads(line[line.index("CMD") + 3 :])
        return command


def stages(path: Path) -> list[Stage]:
    text = "\n".join(line for line in path.read_text().splitlines() if not line.lstrip().startswith("#"))
    found: list[Stage] = []
    for line in re.sub(r"\\\n\s*", " ", text).splitlines():
        if not line.strip():
            continue
        name, rest = line.split(None, 1)
        assert name in {
            "ARG", "CMD", "COPY", "ENV", "EXPOSE", "FROM", "HEALTHCHECK", "RUN", "STOPSIGNAL", "USER", "WORKDIR"
        }, line  # fmt: skip
        if name == "FROM":
            image, *alias = re.split(r"\s+AS\s+", rest.strip())
            found.append(Stage(image, alias[0] if alias else ""))
        else:
            found[-1].instructions.append((name, rest.strip()))
    return found
