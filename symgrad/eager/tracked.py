"""What a tensor has to do with gradients: whether it wants one, where it comes from, its hooks."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Self, cast

from symgrad.eager.records import HookHandle, Leaf, Record
from symgrad.eager.views import Extra, renew, retain
from symgrad.errors import DTypeError, GradientError, InPlaceError, NotDifferentiable, ShapeError
from symgrad.ir.late import late
from symgrad.ir.operators import Operators
from symgrad.ir.storage import Storage
from symgrad.types import TensorType, is_inexact

if TYPE_CHECKING:
    from symgrad.eager.tensor import Tensor


class Tracked(Operators):
    """The part of a tensor that knows of records: PyTorch's names.

    Attributes:
        storage: where the value lives.
    """

    __slots__ = ("__weakref__", "_edge", "storage")

    storage: Storage
    _edge: Record | Leaf | Extra | None

    @property
    def type(self) -> TensorType:
        """Element type and shape."""
        array = self.storage.array
        return TensorType(array.shape, array.dtype)

    @property
    def edge(self) -> Record | Leaf | None:
        """Where a gradient that arrives here goes: a record, a leaf, or nowhere."""
        edge = self._edge
        if edge.__class__ is not Extra:
            return cast("Record | Leaf | None", edge)
        extra = cast("Extra", edge)
        if extra.is_stale:
            renew(cast("Tensor", self))
        return extra.edge

    @edge.setter
    def edge(self, new: Record | Leaf | None) -> None:
        if isinstance(self._edge, Extra):
            self._edge.edge = new
        else:
            self._edge = new

    @property
    def requires_grad(self) -> bool:
        """Whether calls on it are recorded; may be set on a leaf.

        Raises (where set):
            GradientError: it is no leaf, or not of floating-point type.
        """
        return self.edge is not None

    @requires_grad.setter
    def requires_grad(self, wanted: bool) -> None:
        edge = self.edge
        if isinstance(edge, Record):
            if wanted:
                return
            raise GradientError(
                "requires_grad",
                f"the result of {edge.name()} is no leaf",
                hint="x.detach() gives one that requires nothing",
                site=str(edge.site),
            )
        if bool(wanted) is (edge is not None):
            return
        if edge is not None:
            edge.accepts = False
            self._edge = edge.extra
            return
        if not is_inexact(self.dtype):
            raise NotDifferentiable(
                "requires_grad",
                "only floating-point and complex tensors can require a gradient",
                got=self.type,
                hint="sg.astype(x, sg.float64) or a float literal",
            )
        self._edge = Leaf(cast("Tensor", self), self.extra)  # which keeps what stood there

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Set `requires_grad`, and give the tensor itself."""
        self.requires_grad = requires_grad
        return self

    @property
    def is_leaf(self) -> bool:
        """Whether it is no result of a recorded call."""
        return not isinstance(self.edge, Record)

    @property
    def grad_fn(self) -> Record | None:
        """The record of the call that made it, or None."""
        edge = self.edge
        return edge if isinstance(edge, Record) else None

    @property
    def grad(self) -> Tensor | None:
        """The gradient that `backward` added up; may be set, to None as well.

        Raises (where set):
            ShapeError, DTypeError: the new gradient is not of this tensor's type.
        """
        edge = self._edge
        extra = edge.extra if isinstance(edge, Leaf) else edge
        grad = extra.grad if isinstance(extra, Extra) else None
        if grad is None and isinstance(self.edge, Record) and not self.retains_grad:
            warnings.warn(
                "only leaves keep a gradient; call retain_grad() on this result before backward()",
                UserWarning,
                stacklevel=2,
            )
        return grad

    @grad.setter
    def grad(self, new: Tensor | None) -> None:
        if new is not None:
            if not isinstance(new, Tracked):  # pyright: ignore[reportUnnecessaryIsInstance]
                got = type(new).__name__
                raise DTypeError("grad", "no tensor", expected=self.type, got=got)
            if new.shape != self.shape:
                raise ShapeError("grad", "another shape", expected=self.type, got=new.type)
            if new.dtype != self.dtype:
                raise DTypeError("grad", "another type", expected=self.type, got=new.type)
        self.extra.grad = new

    @grad.deleter
    def grad(self) -> None:
        self.extra.grad = None

    @property
    def extra(self) -> Extra:
        """What is kept beside value and edge; made when it is first asked for."""
        present = self._edge
        if isinstance(present, Leaf):
            return present.extra
        if not isinstance(present, Extra):
            self._edge = present = Extra(present)
        return present

    @property
    def retains_grad(self) -> bool:
        """Whether a result that is no leaf keeps its gradient."""
        return isinstance(self._edge, Extra) and self._edge.retains

    def retain_grad(self) -> None:
        """Have ``.grad`` filled by `backward`, though this is no leaf. For a leaf it does nothing.

        Raises:
            GradientError: it requires no gradient.
        """
        if not self.requires_grad:
            raise GradientError(
                "retain_grad", "the tensor requires no gradient", got=self.type, hint=_REQUIRE
            )
        record = self.grad_fn
        if record is not None and not self.retains_grad:
            retain(record, self.extra)

    def detach_(self) -> Self:
        """Forget the history; the tensor becomes a leaf that requires nothing.

        Raises:
            InPlaceError: it is a view, whose history is its base's.
        """
        if self.extra.source is not None:
            raise InPlaceError(
                "detach_", "a view has its base's history", got=self.type, hint="use detach()"
            )
        if isinstance(self._edge, Leaf):
            self.requires_grad = False
        self.edge = None
        return self

    @property
    def data(self) -> Tensor:
        """The same as ``detach()``: changes are counted, so none goes unnoticed."""
        return self.detach()

    def backward(
        self,
        gradient: Any = None,
        retain_graph: bool | None = None,
        create_graph: bool = False,
        inputs: Any = None,
    ) -> None:
        """Add the gradients of this tensor to ``.grad`` of the leaves that it depends on.

        Args:
            gradient: the cotangent of this tensor, of its shape; 1 if None, for one element.
            retain_graph: keep the saved values, for another pass; None means ``create_graph``.
            create_graph: record the pass itself, so that gradients can be differentiated again. A
                leaf then holds its gradient, whose history ends at the leaf: what is freed by the
                garbage collector only. `symgrad.grad` forms no such circle.
            inputs: only to these tensors.

        Raises:
            GradientError: the tensor requires no gradient; it has several elements and no
                ``gradient`` is given; what it needs was freed by an earlier pass.
            InPlaceError: a value that is needed was changed since.
            ShapeError: ``gradient`` has another shape.

        When it raises, no ``.grad`` has changed; values that the pass had used already are freed.
        """
        seeds = None if gradient is None else [gradient]
        late.backward(self, seeds, retain_graph, create_graph, inputs)

    def register_hook(self, hook: Callable[..., Any]) -> HookHandle:
        """Call ``hook(grad)`` when the gradient of this tensor is complete.

        What it returns, if not None, takes the gradient's place. Hooks run in the order of their
        registration. The handle's ``remove()`` takes the hook out.

        Raises:
            GradientError: the tensor requires no gradient.
        """
        edge = self.edge
        if edge is None:
            raise GradientError(
                "register_hook", "the tensor requires no gradient", got=self.type, hint=_REQUIRE
            )
        return (edge if isinstance(edge, Leaf) else edge.watched()).hooks.add(hook)

    def register_post_accumulate_grad_hook(self, hook: Callable[..., Any]) -> HookHandle:
        """Call ``hook(tensor)`` each time after a gradient was added to this leaf's ``.grad``.

        Raises:
            GradientError: it is no leaf that requires a gradient.
        """
        edge = self.edge
        if not isinstance(edge, Leaf):
            raise GradientError(
                "register_post_accumulate_grad_hook",
                "no leaf that requires a gradient",
                got=self.type,
            )
        return edge.after.add(hook)

    @property
    def _version(self) -> int:
        """How often the value was changed in place."""
        return self.storage.version


_REQUIRE = "x.requires_grad_() on a leaf before it is used"
