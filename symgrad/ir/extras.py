"""The extras: packages that some ops need and `import symgrad` does not."""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec

from symgrad.errors import ExtraMissing

PACKAGES = {"data": "sklearn", "special": "scipy"}
"""The package that an extra brings."""


@cache
def _is_there(package: str) -> bool:
    return find_spec(package) is not None


def require_extra(where: str, extra: str) -> None:
    """Refuse what needs a package that is not installed.

    Raises:
        ExtraMissing: names the package and how to install it.
    """
    package = PACKAGES[extra]
    if not _is_there(package):
        hint = f"pip install 'symgrad[{extra}]'"
        raise ExtraMissing(where, f"{package} is not installed", hint=hint)
