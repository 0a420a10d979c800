"""Where a symbol was written: the innermost line of code that is not symgrad's own."""

from __future__ import annotations

import os
import sys
from types import CodeType, FrameType

_PACKAGE = __name__.split(".", maxsplit=1)[0]
_PREFIX = _PACKAGE + "."


class Site:
    """A line of the user's code. The line number is worked out only when somebody asks."""

    __slots__ = ("_code", "_instruction")

    def __init__(self, code: CodeType, instruction: int) -> None:
        self._code, self._instruction = code, instruction

    @property
    def file(self) -> str:
        """The file's path, as Python knows it."""
        return self._code.co_filename

    @property
    def line(self) -> int:
        """The line number, from 1."""
        for start, end, line in self._code.co_lines():
            if start <= self._instruction < end and line is not None:
                return line
        return self._code.co_firstlineno

    def __str__(self) -> str:
        return f"{os.path.basename(self.file)}:{self.line}"


_own: dict[str, bool] = {}  # by file name: whether the file is the package's


def here() -> Site | None:
    """The site of the innermost caller outside the package."""
    found = place(2)
    return None if found is None else Site(*found)


def place(depth: int) -> tuple[CodeType, int] | None:
    """What a `Site` is made of, for who makes many and shows few.

    Args:
        depth: how many frames, from the caller's own on, are known to be the package's.
    """
    frame: FrameType | None = sys._getframe(depth)  # pyright: ignore[reportPrivateUsage]
    while frame is not None:
        code = frame.f_code
        own = _own.get(code.co_filename)
        if own is None:
            name = frame.f_globals.get("__name__", "")
            own = _own[code.co_filename] = name == _PACKAGE or name.startswith(_PREFIX)
        if not own:
            return code, frame.f_lasti
        frame = frame.f_back
    return None
