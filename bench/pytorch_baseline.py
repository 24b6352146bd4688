"""The baseline of `aflguard bench train`: the same training steps with PyTorch on one thread.

Reads one line per request, "MODEL STEPS", and answers with the process CPU time per step in milliseconds (the median
of the steps), so that the caller can take turns with it. Answers "ready VERSION" first.
"""
import os
import sys
import time

os.environ["OMP_NUM_THREADS"] = "1"
os.environ["OPENBLAS_NUM_THREADS"] = "1"

import torch
from torch import nn
from torch.nn import functional


def cnn():
    return nn.Sequential(
        nn.Conv2d(1, 30, 3), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(30, 50, 3), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(1250, 100), nn.ReLU(), nn.Linear(100, 10))


class Block(nn.Module):
    """Two convolutions with a shortcut that has no parameters, as in the original network for CIFAR."""

    def __init__(self, channels_in, channels_out, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(channels_in, channels_out, 3, stride, 1, bias=False)
        self.norm1 = nn.BatchNorm2d(channels_out)
        self.conv2 = nn.Conv2d(channels_out, channels_out, 3, 1, 1, bias=False)
        self.norm2 = nn.BatchNorm2d(channels_out)
        self.stride = stride
        self.missing = channels_out - channels_in

    def shortcut(self, x):
        if self.stride == 1:
            return x
        before = self.missing // 2
        return functional.pad(x[:, :, ::2, ::2], (0, 0, 0, 0, before, self.missing - before))

    def forward(self, x):
        inner = functional.relu(self.norm1(self.conv1(x)))
        return functional.relu(self.norm2(self.conv2(inner)) + self.shortcut(x))


def resnet20():
    layers = [nn.Conv2d(3, 16, 3, 1, 1, bias=False), nn.BatchNorm2d(16), nn.ReLU()]
    channels = 16
    for wide, stride in [(16, 1)] * 3 + [(32, 2), (32, 1), (32, 1)] + [(64, 2), (64, 1), (64, 1)]:
        layers.append(Block(channels, wide, stride))
        channels = wide
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 10))


def step(model, x, y):
    model.zero_grad()
    functional.cross_entropy(model(x), y).backward()


def main():
    torch.manual_seed(1)
    torch.set_num_threads(1)
    cases = {
        "cnn": (cnn(), torch.rand(32, 1, 28, 28), torch.randint(0, 10, (32,))),
        "resnet20": (resnet20(), torch.rand(64, 3, 32, 32), torch.randint(0, 10, (64,))),
    }
    print("ready", torch.__version__, flush=True)
    for line in sys.stdin:
        name, steps = line.split()
        times = []
        for _ in range(int(steps)):
            start = time.process_time()
            step(*cases[name])
            times.append((time.process_time() - start) * 1e3)
        print(sorted(times)[len(times) // 2], flush=True)


main()
