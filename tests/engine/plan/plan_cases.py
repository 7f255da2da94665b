"""Golden cases: `<case>.test` holds a job, then `== <section>` for each text that is compared."""

from dataclasses import dataclass, replace
from pathlib import Path

FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Case:
    path: Path
    title: str
    job: str
    sections: dict[str, str]

    def text(self) -> str:
        return f"-- {self.title}\n{self.job}" + "".join(f"\n== {name}\n{text}" for name, text in self.sections.items())

    def check(self, sections: dict[str, str], update: bool) -> None:
        """Compare the sections with those of the file; with `update`, write them there."""
        if update:
            self.path.write_text(replace(self, sections=sections).text())
        else:
            assert sections == self.sections


def read_case(path: Path) -> Case:
    head, *parts = path.read_text().split("\n== ")
    title, _, job = head.partition("\n")
    named = (part.partition("\n") for part in parts)
    return Case(
        path, title.removeprefix("-- "), job.rstrip("\n") + "\n", {n: text.rstrip("\n") + "\n" for n, _, text in named}
    )


def cases(folder: Path = FOLDER) -> list[Path]:
    return sorted(folder.glob("*.test"))
