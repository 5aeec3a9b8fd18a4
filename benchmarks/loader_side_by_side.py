"""Loader throughput beside the DataLoader of Python's torch, in one run on one machine.

    python3 benchmarks/loader_side_by_side.py build/release/bin/nexuml-benchmark-loader

or, where torch is not installed, with the one of LibTorch's wheel:

    .venv/bin/python tests/tensor_io/with_torch.py .deps/torch/lib benchmarks/loader_side_by_side.py PROGRAM

Repetitions of the programs are interleaved; the machine should have nothing else to do.
Prints samples a second and ratios: tensors in memory against torch (0 and 2 workers; at least 10 times is the goal),
16-bit WAV files against a bare loop of libsndfile with the same threads (at least 0.8).
"""
import json
import statistics
import subprocess
import sys
import time

import torch
from torch.utils.data import DataLoader, TensorDataset

ROWS, WIDTH, BATCH, REPETITIONS = 20000, 784, 64, 9


def ours(program):
    run = subprocess.run([program, "--benchmark_format=json", f"--benchmark_repetitions={REPETITIONS}",
                          "--benchmark_enable_random_interleaving=true", "--benchmark_min_time=0.2"],
                         check=True, capture_output=True, text=True)
    rates = {}
    for entry in json.loads(run.stdout)["benchmarks"]:
        if entry.get("aggregate_name") == "median":
            rates[entry["run_name"].removesuffix("/real_time")] = entry["items_per_second"]
    return rates


def theirs(workers):
    data = TensorDataset(torch.randn(ROWS, WIDTH), torch.randint(10, (ROWS,)))
    loader = DataLoader(data, batch_size=BATCH, shuffle=True, num_workers=workers)
    rates = []
    for _ in range(REPETITIONS):
        begin = time.perf_counter()
        samples = sum(batch.shape[0] for batch, _ in loader)
        rates.append(samples / (time.perf_counter() - begin))
    return statistics.median(rates)


def main():
    torch.set_num_threads(1)
    mine = ours(sys.argv[1])
    for workers in (0, 2):
        other = theirs(workers)
        rate = mine[f"in_memory/{workers}"]
        print(f"in memory, {workers} workers: {rate:12,.0f} samples/s, torch {other:10,.0f}: {rate / other:.1f} times")
    for threads in (1, 2):
        rate, bare = mine[f"wav_loader/{threads}"], mine[f"wav_bare/{threads}"]
        print(f"WAV, {threads} threads: {rate:8,.0f} files/s, bare loop {bare:8,.0f}: {rate / bare:.2f}")


main()
