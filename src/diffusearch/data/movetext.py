"""The main line of a PGN movetext: comments, variations and annotation glyphs are cut out in one linear pass.

python-chess and regular expressions need quadratic time for some texts, such as many kB of `{` or `(`. This scanner
looks at each character at most a fixed number of times, so that text from strangers cannot stop the program.
"""

from __future__ import annotations

import re

NESTING = 100  # variations inside variations; annotated games of real players stay below 20

# A comment, the rest of a line, a variation, or (at the start of a line only) an escaped line or a misplaced tag pair.
_MARK = re.compile(r"[{;()]|^[%\[]", re.MULTILINE)
_GLYPH = re.compile(r"\$[0-9]+")
# Words of a movetext: a move as python-chess reads it, a number, a glyph such as ?!; "e.p." is split at its points.
_WORD = re.compile(
    r"(?:[NBKRQ]?[a-h]?[1-8]?[-x]?[a-h][1-8](?:=?[nbrqkNBRQK])?|[PNBRQK]?@[a-h][1-8]|O-O(?:-O)?|0-0(?:-0)?|--|Z0|0000|@@@@)"
    r"[^\w\s]*|[0-9]+|[01]-[01]|1/2-1/2|[ep]|[^\w\s]+"
)


class Broken(Exception):
    """A game that cannot be used. `reason` is the name it is counted under, `detail` quotes the text."""

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.detail = detail[:120]


def main_words(movetext: str) -> str:
    """The movetext without comments, variations, escaped lines and numeric glyphs, on one line.

    Raises Broken where variations are nested deeper than NESTING. A comment or variation that is never closed reaches
    to the end.
    """
    kept: list[str] = []
    depth = at = 0
    while (mark := _MARK.search(movetext, at)) is not None:
        if depth == 0:
            kept.append(movetext[at : mark.start()])
        at = mark.end()
        match mark.group():
            case "(":
                depth += 1
                if depth > NESTING:
                    raise Broken("variations too deeply nested")
            case ")":
                depth = max(depth - 1, 0)
            case "{":
                at = (movetext.find("}", at) + 1) or len(movetext)
            case _:  # the newline stays, so that the next line has a start
                end = movetext.find("\n", at)
                at = len(movetext) if end < 0 else end
    if depth == 0:
        kept.append(movetext[at:])
    return " ".join(_GLYPH.sub(" ", " ".join(kept)).split())


def strange_word(movetext: str) -> str | None:
    """The first word of the main line that looks like a move and is none, e.g. a move in another language.

    python-chess skips such words or reads a part of them: it reads the German Sf3 as the pawn move f3. A movetext
    that is nested too deeply has no main line and so no such word.
    """
    try:
        return strange_among(main_words(movetext))
    except Broken:
        return None


def strange_among(words: str) -> str | None:
    """The same of a text that `main_words` gave."""
    strange = (word for word in re.split(r"[\s.]+", words) if not _WORD.fullmatch(word))
    return next((word for word in strange if any(map(str.isdigit, word))), None)  # every move but castling has a rank
