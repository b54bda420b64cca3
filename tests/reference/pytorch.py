"""Writes pytorch.safetensors: a small model's state_dict, with an input and PyTorch's outputs for it beside.

Written by torch 2.13 with safetensors; run as `python pytorch.py`.
"""

import pathlib

import torch
from safetensors.torch import save_file

torch.manual_seed(0)


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv2d(2, 4, 3, stride=2, padding=1)
        self.norm = torch.nn.BatchNorm2d(4)
        self.linear = torch.nn.Linear(16, 3)
        self.layer_norm = torch.nn.LayerNorm(3)
        self.half = torch.nn.Linear(3, 2, dtype=torch.bfloat16)
        self.embedding = torch.nn.Embedding(5, 2, dtype=torch.float16)

    def forward(self, x):
        x = torch.relu(self.norm(self.conv(x)))
        return self.layer_norm(self.linear(x.flatten(1)))


net = Net()
x = torch.randn(3, 2, 4, 4)
train = net.train()(x).detach()  # moves the running statistics
valid = net.eval()(x).detach()
folder = pathlib.Path(__file__).parent
save_file(net.state_dict(), folder / "pytorch.safetensors")
save_file({"x": x, "train": train, "valid": valid}, folder / "pytorch_io.safetensors")
