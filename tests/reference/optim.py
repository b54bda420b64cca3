"""Writes optim.csv: what optimizers of PyTorch make of a parameter, step by step.

Written by torch 2.13; run as `python optim.py`.
"""

import pathlib

import torch

OPTIMIZERS = {
    "sgd": lambda p: torch.optim.SGD(p, lr=0.1),
    "momentum": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, weight_decay=0.01),
    "nesterov": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, nesterov=True),
    "adamw": lambda p: torch.optim.AdamW(p, lr=0.1),
}

lines = []
for name, make in OPTIMIZERS.items():
    x = torch.tensor([1.0], dtype=torch.float64, requires_grad=True)
    optimizer = make([x])
    values = []
    for _ in range(5):
        optimizer.zero_grad()
        (x**3 / 6 + x).sum().backward()
        optimizer.step()
        values.append(repr(x.item()))
    lines.append(",".join([name, *values]))
pathlib.Path(__file__).with_suffix(".csv").write_text("\n".join(lines) + "\n")
