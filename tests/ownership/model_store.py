"""File systems in memory whose every operation is one step: for the explorer, and for tests of stores."""

from collections.abc import Mapping
from dataclasses import dataclass

from connectors.shared.store_primitives import ATOMIC, CONDITIONAL_WRITES, NONE, Primitives

Content = Mapping[str, str]
"""Files by their paths; a directory is there while it holds a file."""


@dataclass(frozen=True)
class Step:
    """One atomic operation of a store."""

    name: str
    arguments: tuple[str, ...]


def is_below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(f"{folder}/")


def apply(content: Content, step: Step) -> tuple[Content, object]:
    """The store after a step, and its answer; an `OSError` is an answer that is raised."""
    match step.name, step.arguments:
        case "exists", (path,):
            return content, any(is_below(name, path) for name in content)
        case "is_file", (path,):
            return content, path in content
        case "children", (folder,):
            start = len(folder) + 1
            found = {name[start:].partition("/")[0] for name in content if name.startswith(f"{folder}/")}
            return content, tuple(sorted(found))
        case "files", (folder,):
            start = len(folder) + 1
            return content, tuple(sorted(name[start:] for name in content if name.startswith(f"{folder}/")))
        case "read", (path,):
            return content, content.get(path, FileNotFoundError(path))
        case "write", (path, text):
            return {**content, path: text}, None
        case "create", (path, text):
            return (content, False) if path in content else ({**content, path: text}, True)
        case "move", (source, target):
            moved = {name: text for name, text in content.items() if is_below(name, source)}
            if any(is_below(name, target) for name in content):
                return content, FileExistsError(target)
            parent = target.rpartition("/")[0]
            if not moved or not any(is_below(name, parent) for name in content):
                return content, FileNotFoundError(source)
            rest = {name: text for name, text in content.items() if name not in moved}
            return {**rest, **{target + name[len(source) :]: text for name, text in moved.items()}}, None
        case "rename", (source, target):
            moved = {name: text for name, text in content.items() if is_below(name, source)}
            if any(is_below(name, target) for name in content):
                return content, FileExistsError(target)
            if not moved:
                return content, FileNotFoundError(source)
            rest = {name: text for name, text in content.items() if name not in moved}
            return {**rest, **{target + name[len(source) :]: text for name, text in moved.items()}}, None
        case "delete", (path,):
            return {name: text for name, text in content.items() if not is_below(name, path)}, None
    raise AssertionError(step)


class ModelFiles:
    """`Files` over steps; `ask` does a step. It has the operations that the commit of files needs."""

    primitives: Primitives = ATOMIC

    def ask(self, name: str, *arguments: str):
        raise NotImplementedError

    def exists(self, path: str) -> bool:
        return self.ask("exists", path)

    def is_file(self, path: str) -> bool:
        return self.ask("is_file", path)

    def children(self, folder: str) -> list[str]:
        return list(self.ask("children", folder))

    def files(self, folder: str) -> list[str]:
        return list(self.ask("files", folder))

    def make_folder(self, path: str) -> None:
        pass

    def read(self, path: str) -> str:
        return self.ask("read", path)

    def write(self, path: str, text: str) -> None:
        self.ask("write", path, text)

    def write_new(self, path: str, text: str) -> bool:
        return self.ask("create", path, text)

    def rename(self, source: str, target: str) -> None:
        self.ask("rename", source, target)

    def move(self, source: str, target: str) -> None:
        self.ask("move", source, target)

    def copy(self, source: str, target: str) -> None:
        self.ask("write", target, self.ask("read", source))

    def size(self, path: str) -> int:
        return len(self.ask("read", path))

    def delete(self, path: str) -> None:
        self.ask("delete", path)

    def delete_empty(self, folder: str) -> None:
        pass


class CopyingFiles(ModelFiles):
    """A store where a rename copies each file, then deletes it, in the order of their names: each is a step."""

    primitives = CONDITIONAL_WRITES

    def rename(self, source: str, target: str) -> None:
        if self.exists(target):
            raise FileExistsError(target)
        names = [source] if self.is_file(source) else [f"{source}/{name}" for name in self.files(source)]
        if not names:
            raise FileNotFoundError(source)
        for name in names:
            self.ask("write", target + name[len(source) :], self.ask("read", name))
        for name in names:
            self.ask("delete", name)

    def move(self, source: str, target: str) -> None:
        self.rename(source, target)


class PlainFiles(CopyingFiles):
    """A store that also has no way to create a file only where there is none."""

    primitives = NONE

    def write_new(self, path: str, text: str) -> bool:
        if self.exists(path):
            return False
        self.write(path, text)
        return True
