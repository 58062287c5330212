#!/usr/bin/env python3
"""torch_job.py MODEL [BATCH] [--amp]: a job for colosim calib pairs, in PyTorch.

MODEL is one of conv (a small residual network), lstm, mlp (launch-bound), decode (matrix times
vector over a large memory, as a language model's decoding). Prints "ready" when it has set up,
waits for "go", then prints its rate in steps a second twice a second, with its peak memory. Lines to
copy from; what a job of your own needs is the last twenty of them."""
import argparse
import ctypes
import sys
import time

import torch
from torch import nn
from torch.nn import functional as F

D = "cuda"


def conv(batch):
    layers = [nn.Conv2d(3, 64, 7, 2, 3)]
    for _ in range(8):
        layers += [nn.ReLU(), nn.Conv2d(64, 64, 3, 1, 1), nn.BatchNorm2d(64)]
    model = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 10)).to(D)
    return trained(model, torch.randn(batch, 3, 128, 128, device=D))


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm, self.out = nn.LSTM(650, 650, 2, batch_first=True), nn.Linear(650, 10)

    def forward(self, x):
        return self.out(self.lstm(x)[0][:, -1])


def lstm(batch):
    return trained(Recurrent().to(D), torch.randn(batch, 35, 650, device=D))


def mlp(batch):
    layers = [layer for _ in range(20) for layer in (nn.Linear(256, 256), nn.Tanh())]
    return trained(nn.Sequential(*layers, nn.Linear(256, 10)).to(D),
                   torch.randn(batch, 256, device=D))


def trained(model, x):
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
    y = torch.randint(0, 10, (x.shape[0],), device=D)

    def step():
        optimizer.zero_grad(set_to_none=True)
        F.cross_entropy(model(x), y).backward()
        optimizer.step()
    return step


def decode(batch):
    weights = [torch.randn(4096, 4096, device=D, dtype=torch.float16) for _ in range(64)]
    x = torch.randn(batch, 4096, device=D, dtype=torch.float16)

    def step():
        for weight in weights:
            F.linear(x, weight)
    return step


def print_mps():
    """What CUDA says of this process, which proves it where the MPS server cannot (attribute 133)."""
    enabled = ctypes.c_int(0)
    if ctypes.CDLL("libcuda.so.1").cuDeviceGetAttribute(ctypes.byref(enabled), 133, 0) == 0:
        print(f"mps={enabled.value}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", choices=["conv", "lstm", "mlp", "decode"])
    parser.add_argument("batch", type=int, nargs="?", default=32)
    parser.add_argument("--amp", action="store_true")
    args = parser.parse_args()
    step = globals()[args.model](args.batch)
    with torch.autocast("cuda", dtype=torch.float16, enabled=args.amp):
        step()
        torch.cuda.synchronize()
        print_mps()
        print("ready", flush=True)
        sys.stdin.readline()  # "go"
        begin, n = time.monotonic(), 0
        while True:
            step()
            torch.cuda.synchronize()
            n += 1
            span = time.monotonic() - begin
            if span > .5:
                peak = torch.cuda.max_memory_allocated() / 2**20
                print(f"rate {n / span:.6g} samples {args.batch} peak_mib {peak:.1f}", flush=True)
                begin, n = time.monotonic(), 0


if __name__ == "__main__":
    main()
