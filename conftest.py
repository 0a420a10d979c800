"""Import the package as a whole first: a module of ops alone would enter its ops twice."""

import symgrad  # noqa: F401
