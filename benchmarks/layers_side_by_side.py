#!/usr/bin/env python3
"""Forward passes of the layers beside the same formulas in Python's torch and torchaudio, interleaved in one run.

    python benchmarks/layers_side_by_side.py build/release/bin/nexuml-benchmark-layers [--threads 1 2] [--rounds 5]

Needs what scripts/layer_references.py needs. Python's formulas are those of that script; both sides get the same weights and
inputs, in eval mode and without gradients. A ratio below 1 means that the library is faster.
"""

import argparse
import json
import math
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "scripts"))
import layer_references as reference  # noqa: E402


def cases():
    r, torch_nn = reference, torch.nn
    dice = r.Dice(1)
    audio = {"sample_rate": 16000, "n_mels": 128, "n_fft": 1024, "hop_length": 512, "win_length": None, "power": 2, "fmin": 0,
             "fmax": 8000, "mel_scale": "slaney", "pad_mode": "constant", "use_librosa": False, "to_db": True,
             "normalize": False}
    speech = {**audio, "n_mels": 64, "n_fft": 512, "win_length": 400, "hop_length": 160, "normalize": True}
    wave = dice.normal(16, 160000)
    yield "lmbe", r.Case("LMBE", audio, {"wave": wave}, r.Lmbe(audio))
    yield "lmbe_speech", r.Case("LMBE", speech, {"wave": wave}, r.Lmbe(speech))
    tokens = dice.normal(64, 100, 128)
    yield "l2_normalize", r.Case("L2Normalize", {}, {"x": tokens},
                                 r.Call(lambda x: torch_nn.functional.normalize(x, dim=-1)))
    for kind in ("mean", "max", "std", "mean_std"):
        pool = {"mean": lambda x: x.mean(-2), "max": lambda x: x.max(-2).values, "std": lambda x: x.std(-2),
                "mean_std": lambda x: torch.cat([x.mean(-2), x.std(-2)], -1)}[kind]
        yield f"token_pool_{kind}", r.Case("TokenPool", {"pooling_type": kind}, {"x": tokens}, r.Call(pool))
    yield "attention_pool", r.Case("AttentionPool", {"n_heads": 8}, {"x": tokens}, r.AttentionPool(128, 8, True, dice))
    yield "statistics_pool", r.Case("AttentiveStatisticsPool", {}, {"x": tokens}, r.StatisticsPool(128, 128, True))
    yield "linear", r.Case("Linear", {"target_dim": 64, "activation": "torch.nn.ReLU"}, {"x": tokens},
                           r.model([torch_nn.Linear(128, 64), torch_nn.ReLU()]))
    conv = torch_nn.Module()
    conv.model = torch_nn.Sequential(torch_nn.Conv1d(128, 64, 1))
    conv.forward = lambda x: conv.model(x.transpose(1, 2)).transpose(1, 2)
    yield "conv1d_projector", r.Case("Conv1dProjector", {"target_dim": 64}, {"x": tokens}, conv)
    yield "low_rank", r.Case("LowRankProjector", {"target_dim": 128, "rank": 16}, {"x": tokens},
                             r.model([torch_nn.Linear(128, 16, bias=False), torch_nn.Linear(16, 128)]))
    flat = torch_nn.Module()
    flat.model = torch_nn.Sequential(torch_nn.Linear(128, 64), torch_nn.BatchNorm1d(64), torch_nn.ReLU(),
                                     torch_nn.Linear(64, 8))
    flat.forward = lambda x: flat.model(x.flatten(1))
    yield "linear_encoder", r.Case("LinearEncoder", {"hidden_dims": [64], "output_dim": 8}, {"x": dice.normal(64, 128)}, flat)
    image, schedule = dice.normal(16, 1, 64, 64), ([16, 32, 64], [(3, 3)] * 3, [(2, 2)] * 3)
    yield "convolutional_encoder", r.Case("ConvolutionalEncoder", {"output_dim": 64}, {"x": image},
                                          r.Encoder(image, *schedule, "relu", 64))
    yield "convolutional_decoder", r.Case("ConvolutionalDecoder", {"output_shape": [1, 64, 64]}, {"z": dice.normal(16, 64)},
                                          r.Decoder(64, [64, 8, 8], [1, 64, 64], *schedule, "relu"),
                                          metadata={"decoder_shape": [64, 8, 8]})
    yield "variational", r.Case("VariationalLatent", {"latent_dim": 32}, {"x": dice.normal(64, 256)},
                                r.Variational(256, 32, 1), outputs=["z", "mu", "logvar", "kl"])
    import torchvision
    network = torchvision.models.resnet18(weights=None)
    network.conv1, network.maxpool, network.fc = (torch_nn.Conv2d(3, 64, 3, padding=1, bias=False), torch_nn.Identity(),
                                                  torch_nn.Identity())
    resnet = torch_nn.Module()
    resnet.model = network
    resnet.forward = network.forward
    yield "resnet18", r.Case("ResNet", {"resnet_type": "resnet18"}, {"x": dice.normal(8, 3, 32, 32)}, resnet, formula=True)
    head = torch_nn.Module()
    head.head = torch_nn.Sequential(torch_nn.Linear(128, 64), torch_nn.ReLU(), torch_nn.Linear(64, 10))
    head.forward = lambda z: head.head(z.flatten(1))
    yield "head", r.Case("LatentClassificationHead", {"hidden_dims": [64]}, {"z": dice.normal(64, 128)}, head, num_classes=10)
    other = dice.normal(64, 100, 128)
    yield "anomaly_score", r.Case("AnomalyScore", {}, {"o": tokens, "r": other},
                                  r.Call(lambda o, q: ((o.flatten(1) - q.flatten(1)) ** 2).mean(1)))
    yield "reconstruction_loss", r.Case("ReconstructionLoss", {}, {"o": tokens, "r": other},
                                        r.Call(lambda o, q: torch_nn.functional.mse_loss(q.flatten(1), o.flatten(1),
                                                                                         reduction="none").mean(1)))
    yield "merge", r.Case("MergeLayer", {}, {"a": tokens, "b": other}, r.Call(lambda *x: torch.cat(x, -2)))
    yield "logits_to_class", r.Case("LogitsToClass", {}, {"x": dice.normal(64, 100)}, r.Call(lambda x: x.argmax(-1).float()))


def python_time(module, inputs, seconds):
    """Microseconds of one forward pass, the fastest of a few stretches."""
    with torch.no_grad():
        module(*inputs)
        begin = time.perf_counter()
        module(*inputs)
        count = max(1, int(seconds / 4 / max(1e-7, time.perf_counter() - begin)))
        best = math.inf
        for _ in range(4):
            begin = time.perf_counter()
            for _ in range(count):
                module(*inputs)
            best = min(best, (time.perf_counter() - begin) / count)
    return best * 1e6


def library_times(program, name, folder, threads, seconds):
    done = subprocess.run([program, f"--threads={threads}", str(folder / f"{name}.json"), f"--benchmark_filter=^{name}",
                           f"--benchmark_min_time={seconds / 4}", "--benchmark_repetitions=4", "--benchmark_format=json"],
                          capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{program} failed: {done.stderr}")
    rows = [row for row in json.loads(done.stdout)["benchmarks"] if row["run_type"] == "iteration"]
    return min(row["real_time"] for row in rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", help="nexuml-benchmark-layers")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.4, help="for each side and round")
    parser.add_argument("--only", default="", help="part of the names of cases")
    options = parser.parse_args()
    print(f"{'layer':24} threads   library us    python us   ratio")
    with tempfile.TemporaryDirectory() as text:
        folder = Path(text)
        for name, case in cases():
            if options.only not in name:
                continue
            case.extra["no_grad"] = True
            reference.write(case, name, folder, reference.Dice(2))
            inputs = [value for value in case.inputs.values()]
            for threads in options.threads:
                torch.set_num_threads(threads)
                ours, theirs = [], []
                for _ in range(options.rounds):
                    theirs.append(python_time(case.module, inputs, options.seconds))
                    ours.append(library_times(options.program, name, folder, threads, options.seconds))
                ratio = statistics.median(a / b for a, b in zip(ours, theirs))
                print(f"{name:24} {threads:7} {statistics.median(ours):12.1f} {statistics.median(theirs):12.1f} {ratio:7.2f}",
                      flush=True)


if __name__ == "__main__":
    main()
