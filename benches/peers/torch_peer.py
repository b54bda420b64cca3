"""The same work in PyTorch. Prints `name<TAB>threads<TAB>microseconds`, best of seven; run by the `peers` binary."""

import os
import sys
import time

import torch
import torch.distributed as dist
import torch.nn.functional as F


def best(f, rounds=7):
    f()
    times = []
    for _ in range(rounds):
        calls, start = 0, time.perf_counter()
        while time.perf_counter() - start < 0.05:
            f()
            calls += 1
        times.append((time.perf_counter() - start) / calls)
    return min(times) * 1e6


def ops():
    big, square = torch.rand(1 << 20), torch.rand(1024, 1024)
    other = torch.rand(1 << 20)
    x, w = torch.rand(8, 32, 56, 56), torch.rand(64, 32, 3, 3)
    yield "add 1M", lambda: big + other
    yield "exp 1M", lambda: big.exp()
    yield "sum 1M", lambda: big.sum()
    yield "softmax 1024x1024", lambda: square.softmax(1)
    yield "sum axis 0 1024x1024", lambda: square.sum(0, keepdim=True)
    yield "transposed copy 1024x1024", lambda: square.t().contiguous()
    for n in (64, 512, 1024):
        a, b = torch.rand(n, n), torch.rand(n, n)
        yield f"matmul {n}", lambda a=a, b=b: a @ b
    yield "conv2d 8x32x56x56 64 3x3", lambda: F.conv2d(x, w, padding=1)
    for shape in ([1024, 1024], [1024], [1 << 16], [(1 << 16) + 1]):
        signal, name = torch.rand(shape), "x".join(map(str, shape))
        yield f"rfft {name}", lambda signal=signal: torch.fft.rfft(signal)
        spectrum = torch.fft.rfft(signal)
        yield f"irfft {name}", lambda spectrum=spectrum, n=shape[-1]: torch.fft.irfft(spectrum, n)


def mlp():
    return torch.nn.Sequential(
        torch.nn.Linear(784, 512), torch.nn.ReLU(), torch.nn.Linear(512, 512), torch.nn.ReLU(), torch.nn.Linear(512, 10)
    )


def step_time(model, batch):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    x, y = torch.rand(batch, 784), torch.randint(0, 10, (batch,))

    def step():
        optimizer.zero_grad()
        F.cross_entropy(model(x), y).backward()
        optimizer.step()

    return best(step, rounds=5)


def member(rank, port):
    torch.set_num_threads(1)
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=port)
    dist.init_process_group("gloo", rank=rank, world_size=2)
    model = torch.nn.parallel.DistributedDataParallel(mlp())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    x, y = torch.rand(128, 784), torch.randint(0, 10, (128,))
    times = []
    for _ in range(5):
        start = time.perf_counter()
        for _ in range(30):
            optimizer.zero_grad()
            F.cross_entropy(model(x), y).backward()
            optimizer.step()
        times.append((time.perf_counter() - start) / 30)
    if rank == 0:
        print(f"mlp step, 2 replicas of 128\t1\t{min(times) * 1e6}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    if len(sys.argv) > 1:
        member(int(sys.argv[1]), sys.argv[2])
        sys.exit()
    for threads in (1, 2):
        torch.set_num_threads(threads)
        for name, f in ops():
            print(f"{name}\t{threads}\t{best(f)}", flush=True)
        print(f"mlp step, 1 replica of 128\t{threads}\t{step_time(mlp(), 128)}", flush=True)
    import socket
    import subprocess

    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = str(s.getsockname()[1])
    members = [subprocess.Popen([sys.executable, __file__, str(rank), port]) for rank in range(2)]
    for process in members:
        process.wait()
