"""What an iterator gives, prepared ahead by a thread."""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Generator, Iterator
from queue import SimpleQueue
from typing import Any

_VALUE, _ERROR, _END = range(3)


class _Worker:
    """Goes through an iterator in a thread, at most a given number of values ahead."""

    def __init__(self, values: Iterator[Any], count: int) -> None:
        self._values = values
        self._room = threading.Semaphore(count)
        self._stopped = False
        self.results: SimpleQueue[tuple[int, Any]] = SimpleQueue()
        # Settings of the thread that asks (no_grad, say) hold for what is prepared for it.
        context = contextvars.copy_context()
        self._thread = threading.Thread(
            target=context.run, args=(self._run,), name="symgrad prefetch", daemon=True
        )
        self._thread.start()

    def _run(self) -> None:
        try:
            while True:
                self._room.acquire()
                if self._stopped:
                    return
                self.results.put((_VALUE, next(self._values)))
        except StopIteration:
            self.results.put((_END, None))
        except BaseException as error:  # it is raised where the value is asked for
            self.results.put((_ERROR, error))

    def taken(self) -> None:
        """One value was taken: there is room for another."""
        self._room.release()

    def stop(self) -> None:
        """End the thread, when it has finished the value that it works on."""
        self._stopped = True
        self._room.release()
        if self._thread is not threading.current_thread():
            self._thread.join()


def ahead(values: Iterator[Any], count: int) -> Generator[Any]:
    """The values of an iterator, of which a thread prepares ``count`` ahead.

    What is raised there is raised here. The thread ends with the values, or when nobody wants them
    any more: when the loop is left and the iterator dropped or closed.
    """
    worker = _Worker(values, count)
    try:
        while True:
            kind, value = worker.results.get()
            worker.taken()
            if kind == _END:
                return
            if kind == _ERROR:
                value.add_note("while a batch was prepared ahead, in the thread of a DataLoader")
                raise value
            yield value
    finally:
        worker.stop()
