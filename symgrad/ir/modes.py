"""How calls are carried out at the moment: recorded, watched for NaN, traced.

The setting is a context variable: every thread and every asynchronous task has its own.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextvars import ContextVar, Token
from typing import Any, TypeVar

RECORDING, WATCHING, TRACING = 1, 2, 4
"""The bits of `MODE`."""

MODE: ContextVar[int] = ContextVar("symgrad mode", default=RECORDING)

MET: ContextVar[dict[Any, Any] | None] = ContextVar("symgrad leaves met", default=None)
"""While a function is traced: the variables met on the way, and the leaves that they stand for."""

Function = TypeVar("Function", bound=Callable[..., Any])


def is_grad_enabled() -> bool:
    """Whether what is computed here is recorded for `backward`.

    >>> import symgrad as sg
    >>> with sg.no_grad():
    ...     sg.is_grad_enabled()
    False
    """
    return bool(MODE.get() & RECORDING)


def is_anomaly_enabled() -> bool:
    """Whether a NaN raises; see `detect_anomaly`."""
    return bool(MODE.get() & WATCHING)


class _Setting:
    """Switches one bit for a ``with`` block, or for every call of a decorated function."""

    _bit = RECORDING

    def __init__(self, mode: bool) -> None:
        self._mode = bool(mode)
        self._tokens: list[Token[int]] = []

    def _switched(self) -> int:
        present = MODE.get()
        return present | self._bit if self._mode else present & ~self._bit

    def __enter__(self) -> Any:
        self._tokens.append(MODE.set(self._switched()))
        return self

    def __exit__(self, *_: object) -> None:
        MODE.reset(self._tokens.pop())

    def __call__(self, function: Function) -> Function:
        @functools.wraps(function)
        def within(*args: Any, **kwargs: Any) -> Any:
            token = MODE.set(self._switched())
            try:
                return function(*args, **kwargs)
            finally:
                MODE.reset(token)

        return within  # pyright: ignore[reportReturnType]


def _plain_decorator(new: Any, function: Any) -> Any:
    """What ``@no_grad`` without parentheses gives: the function, decorated."""
    if function is None:
        return new
    new.__init__()
    return new(function)


class no_grad(_Setting):
    """Inside, nothing is recorded: results do not require a gradient, leaves may be changed.

    A block (``with sg.no_grad():``) or a decorator (``@sg.no_grad()`` or ``@sg.no_grad``).

    >>> import symgrad as sg
    >>> x = sg.tensor([1.0], requires_grad=True)
    >>> with sg.no_grad():
    ...     (x * 2).requires_grad
    False
    """

    def __new__(cls, function: Any = None) -> Any:
        return _plain_decorator(super().__new__(cls), function)

    def __init__(self, function: Any = None) -> None:
        super().__init__(False)


class enable_grad(_Setting):
    """Inside, calls are recorded, also within a `no_grad` block.

    >>> import symgrad as sg
    >>> with sg.no_grad(), sg.enable_grad():
    ...     sg.is_grad_enabled()
    True
    """

    def __new__(cls, function: Any = None) -> Any:
        return _plain_decorator(super().__new__(cls), function)

    def __init__(self, function: Any = None) -> None:
        super().__init__(True)


class set_grad_enabled(_Setting):
    """Switch recording on or off: from now on, or for a block.

    >>> import symgrad as sg
    >>> with sg.set_grad_enabled(False):
    ...     sg.is_grad_enabled()
    False
    """

    def __init__(self, mode: bool) -> None:
        super().__init__(mode)
        self._tokens.append(MODE.set(self._switched()))
        self._fresh = True

    def __enter__(self) -> Any:
        if self._fresh:  # the constructor has switched already
            self._fresh = False
            return self
        return super().__enter__()

    def __call__(self, function: Function) -> Function:
        MODE.reset(self._tokens.pop())
        return super().__call__(function)


class detect_anomaly(_Setting):
    """Inside, the first NaN that an op or a derivative makes raises, and names the line.

    What was NaN before does not count: the error is raised where a NaN comes out of operands that
    hold none. It serves eager calls, `backward`, and compiled functions, which then run op by op.

    Raises:
        AnomalyError: an op made a NaN; the message names the op and the line of its call.

    >>> import symgrad as sg
    >>> with sg.detect_anomaly():
    ...     sg.log(sg.tensor(-1.0))
    Traceback (most recent call last):
        ...
    symgrad.errors.AnomalyError: log: the result is NaN, the operands are not...
    """

    _bit = WATCHING

    def __init__(self, mode: bool = True) -> None:
        super().__init__(mode)
