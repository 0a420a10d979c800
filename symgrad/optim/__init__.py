"""Optimisers, and schedules of their learning rates.

>>> import symgrad as sg
>>> w = sg.tensor([3.0, -2.0], requires_grad=True)
>>> optimizer = sg.optim.Adam([w], lr=0.1)
>>> for _ in range(200):
...     optimizer.zero_grad()
...     loss = sg.sum((w - 1.0) ** 2)
...     loss.backward()
...     optimizer.step()
>>> sg.round(w.detach(), decimals=2)
Tensor([1., 1.])
"""

from __future__ import annotations

from symgrad.optim import lr_scheduler
from symgrad.optim.adam import Adam, AdamW
from symgrad.optim.adam_variants import Adamax, NAdam, RAdam
from symgrad.optim.adaptive import Adadelta, Adagrad, RMSprop
from symgrad.optim.averaging import ASGD, Rprop
from symgrad.optim.clipping import (
    clip_by_norm,
    clip_by_value,
    clip_grad_norm_,
    clip_grad_value_,
    total_norm,
)
from symgrad.optim.groups import Group
from symgrad.optim.lbfgs import LBFGS
from symgrad.optim.optimizer import Optimizer
from symgrad.optim.sgd import SGD

__all__ = [
    "ASGD",
    "LBFGS",
    "SGD",
    "Adadelta",
    "Adagrad",
    "Adam",
    "AdamW",
    "Adamax",
    "Group",
    "NAdam",
    "Optimizer",
    "RAdam",
    "RMSprop",
    "Rprop",
    "clip_by_norm",
    "clip_by_value",
    "clip_grad_norm_",
    "clip_grad_value_",
    "lr_scheduler",
    "total_norm",
]
