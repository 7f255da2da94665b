"""great-expectations' data docs page as one file: the original loads styles, scripts and pictures from the network."""

from html import escape
from html.parser import HTMLParser
from importlib.resources import files
from typing import Final

_LEFT_OUT: Final = ("head", "script", "style", "footer", "button", "img", "link")
_LEFT_OUT_CLASSES: Final = ("navbar", "modal", "ge-walkthrough-modal", "sticky", "navigation")
_VOID: Final = ("area", "base", "br", "col", "hr", "img", "input", "link", "meta", "source", "wbr")


def offline(page: str, title: str) -> str:
    """The page's text and tables with our own styles; parts that need a script or another page are left out."""
    reader = _Body()
    reader.feed(page)
    reader.close()
    style = files("engine.expectations").joinpath("page.css").read_text(encoding="utf-8")
    head = f'<head>\n<meta charset="UTF-8">\n<title>{escape(title)}</title>\n<style>\n{style}</style>\n</head>'
    return f'<!DOCTYPE html>\n<html lang="en">\n{head}\n<body>\n{"".join(reader.parts).strip()}\n</body>\n</html>\n'


class _Body(HTMLParser):
    """The body, without the elements that are left out and without links to what is not in the page."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=False)
        self.parts: list[str] = []
        self.skipped: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        classes = (dict(attrs).get("class") or "").split()
        if self.skipped or tag in _LEFT_OUT or any(class_ in _LEFT_OUT_CLASSES for class_ in classes):
            self.skipped.extend([tag] if tag not in _VOID else [])
        elif tag not in ("html", "body"):
            self.parts.append(self._start(tag, attrs))

    def handle_endtag(self, tag: str) -> None:
        if self.skipped:
            if tag in self.skipped:
                while self.skipped.pop() != tag:
                    pass
        elif tag not in ("html", "body") and tag not in _VOID:
            self.parts.append(f"</{tag}>")

    def handle_data(self, data: str) -> None:
        self._put(data)

    def handle_entityref(self, name: str) -> None:
        self._put(f"&{name};")

    def handle_charref(self, name: str) -> None:
        self._put(f"&#{name};")

    def _put(self, text: str) -> None:
        if not self.skipped:
            self.parts.append(text)

    def _start(self, tag: str, attrs: list[tuple[str, str | None]]) -> str:
        kept = [
            (name, value or "")
            for name, value in attrs
            if not name.startswith(("on", "data-")) and (name not in ("href", "src") or (value or "").startswith("#"))
        ]
        written = "".join(f' {name}="{escape(value)}"' for name, value in kept)
        return f"<{tag}{written}>"
