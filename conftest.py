"""Import the package as a whole first: a module of ops alone would enter its ops twice."""

from __future__ import annotations

import symgrad  # noqa: F401
