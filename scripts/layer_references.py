#!/usr/bin/env python3
"""Writes golden cases with odd sizes and parameters, computed by Python's torch, torchaudio and torchvision.

    python scripts/layer_references.py [FOLDER] [--rounds N] [--seed N]

Needs torch, torchaudio, torchvision, numpy and safetensors. FOLDER is tests/data/golden/odd unless given; the formulas are those of
docs/components.md, written down a second time. `nexuml-run try FOLDER` compares.
"""

import argparse
import json
import math
from pathlib import Path

import torch
import torch.nn.functional as F
import torchaudio
import torchvision
from safetensors.torch import save_file
from torch import nn

ROOT = Path(__file__).resolve().parent.parent
ACTIVATIONS = {"relu": nn.ReLU, "gelu": nn.GELU, "leaky_relu": lambda: nn.LeakyReLU(0.2), "silu": nn.SiLU}


class Case:
    """One case: the layer's parameters, its inputs, and the module that gives what is expected."""

    def __init__(self, layer, params, inputs, module, outputs=("out",), labels=None, mode="eval", rtol=1e-4, atol=1e-5,
                 **extra):
        self.layer, self.params, self.inputs, self.module = layer, params, inputs, module
        self.outputs, self.labels, self.mode = list(outputs), labels, mode
        self.tolerance, self.extra = {"rtol": rtol, "atol": atol}, extra


class Dice:
    def __init__(self, seed):
        self.generator = torch.Generator().manual_seed(seed)

    def int(self, low, high):
        return int(torch.randint(low, high + 1, (1,), generator=self.generator))

    def coin(self):
        return self.int(0, 1) == 1

    def of(self, *choices):
        return choices[self.int(0, len(choices) - 1)]

    def normal(self, *shape):
        return torch.randn(*shape, generator=self.generator)

    def uniform(self, *shape):
        return torch.rand(*shape, generator=self.generator)

    def batch(self):
        return self.of(1, 1, 2, 3, 5)

    def pairs(self, steps, low, high):
        return [self.int(low, high) if self.coin() else [self.int(low, high), self.int(low, high)] for _ in range(steps)]


class Call(nn.Module):
    """A function as a module."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *inputs):
        return self.function(*inputs)


def pair(value):
    return (value, value) if isinstance(value, int) else tuple(value)


# ---- feature layers

class Lmbe(nn.Module):
    def __init__(self, p):
        super().__init__()
        slaney = p["mel_scale"] == "slaney"
        self.mel_spectrogram = torchaudio.transforms.MelSpectrogram(
            sample_rate=p["sample_rate"], n_fft=p["n_fft"], hop_length=p["hop_length"], win_length=p["win_length"],
            power=p["power"], f_min=p["fmin"], f_max=p["fmax"], n_mels=p["n_mels"], pad_mode=p["pad_mode"],
            norm="slaney" if slaney else None, mel_scale=p["mel_scale"])
        self.to_db = torchaudio.transforms.AmplitudeToDB("power" if p["power"] == 2 else "magnitude") if p["to_db"] else None
        self.normalize = p["normalize"]

    def forward(self, waveform):
        x = waveform.unsqueeze(1) if waveform.dim() == 2 else waveform
        mel = self.mel_spectrogram(x)
        if self.to_db:
            mel = self.to_db(mel)
        if self.normalize:
            dims = tuple(range(1, mel.dim()))
            mel = (mel - mel.mean(dims, keepdim=True)) / mel.std(dims, keepdim=True).clamp_min(1e-6)
        return mel


def lmbe(dice):
    n_fft = dice.of(32, 50, 63, 64, 100, 128)
    p = {"sample_rate": dice.of(8000, 16000, 22050), "n_mels": dice.int(1, 20), "n_fft": n_fft,
         "hop_length": dice.int(1, 40), "win_length": dice.of(None, dice.int(8, n_fft)), "power": dice.of(1, 2, 3),
         "fmin": dice.of(0, 50, 300), "fmax": dice.of(2000, 3500, 4000), "mel_scale": dice.of("slaney", "htk"),
         "pad_mode": dice.of("constant", "reflect", "replicate", "circular"), "use_librosa": False, "to_db": dice.coin(),
         "normalize": dice.coin()}
    shape = [dice.batch()] + dice.of([], [1], [3]) + [dice.int(n_fft // 2 + 1, 400)]
    scale = dice.of(1.0, 1e-3)
    return Case("LMBE", p, {"wave": scale * dice.normal(*shape)}, Lmbe(p), atol=1e-3 if p["to_db"] else 1e-5,
                rtol=1e-3 if p["normalize"] else 1e-4, no_grad=True)


def l2(dice):
    eps = dice.of(1e-12, 0.5, 10.0)
    x = dice.normal(dice.batch(), *[dice.int(1, 6) for _ in range(dice.int(1, 3))])
    return Case("L2Normalize", {"eps": eps}, {"x": x}, Call(lambda x: x / x.norm(dim=-1, keepdim=True).clamp_min(eps)))


def token_pool(dice):
    kind = dice.of("mean", "max", "std", "mean_std", "cls", "multilayer")
    shape = [dice.batch()] + [dice.int(3, 6) for _ in range(3 if kind == "multilayer" else 2)]
    dim = 1 if kind == "multilayer" else dice.of(-2, 1)
    skip, keep = dice.coin(), dice.coin()  # of which cls and multilayer know nothing

    def pool(x):
        if kind == "cls":
            return x.select(dim, 0)
        if kind == "multilayer":  # [batch, layers, tokens, width]
            return torch.cat([x.mean(2), x.std(2)], -1).flatten(1)
        if skip:
            x = x.narrow(dim, 1, x.size(dim) - 1)
        if kind == "max":
            return x.max(dim, keepdim=keep).values
        parts = {"mean": [x.mean(dim, keepdim=keep)], "std": [x.std(dim, keepdim=keep)]}
        return torch.cat(parts["mean"] + parts["std"] if kind == "mean_std" else parts[kind], -1)

    return Case("TokenPool", {"dim": dim, "pooling_type": kind, "remove_dim": not keep, "skip_first": skip},
                {"x": dice.normal(*shape)}, Call(pool))


class AttentionPool(nn.Module):
    def __init__(self, width, heads, remove, dice):
        super().__init__()
        self.q = nn.Parameter(dice.normal(1, 1, width))
        self.attention = nn.MultiheadAttention(width, heads, batch_first=True)
        self.remove = remove

    def forward(self, x):
        pooled = self.attention(self.q.expand(x.size(0), -1, -1), x, x, need_weights=False)[0]
        return pooled.squeeze(1) if self.remove else pooled


def attention_pool(dice):
    heads = dice.int(1, 4)
    width = heads * dice.int(1, 5)
    remove = dice.coin()
    return Case("AttentionPool", {"dim": dice.of(-2, 1), "remove_dim": remove, "n_heads": heads},
                {"x": dice.normal(dice.batch(), dice.int(1, 9), width)}, AttentionPool(width, heads, remove, dice),
                mode=dice.of("eval", "train"))


class StatisticsPool(nn.Module):
    def __init__(self, width, hidden, remove):
        super().__init__()
        self.lin, self.v = nn.Linear(width, hidden), nn.Linear(hidden, 1)
        self.projection = nn.Linear(2 * width, width)
        self.remove = remove

    def forward(self, x):
        weights = torch.softmax(self.v(torch.tanh(self.lin(x))), 1)
        mean = (weights * x).sum(1)
        deviation = ((weights * (x - mean.unsqueeze(1)) ** 2).sum(1) + 1e-9).sqrt()
        pooled = self.projection(torch.cat([mean, deviation], -1))
        return pooled if self.remove else pooled.unsqueeze(1)


def statistics_pool(dice):
    width, hidden, remove = dice.int(1, 9), dice.int(1, 12), dice.coin()
    return Case("AttentiveStatisticsPool", {"dim": dice.of(-2, 1), "remove_dim": remove, "hidden_dim": hidden},
                {"x": dice.normal(dice.batch(), dice.int(2, 9), width)}, StatisticsPool(width, hidden, remove))


# ---- projections

def activation_of(name):
    return [getattr(nn, name.rsplit(".", 1)[1])()] if name else []


def model(layers):
    module = nn.Module()
    module.model = nn.Sequential(*layers)
    module.forward = module.model.forward
    return module


def linear(dice):
    shape = [dice.batch()] + [dice.int(1, 6) for _ in range(dice.int(1, 3))]
    hidden_dims, n_layers = dice.of(None, [dice.int(1, 9)], [4, 3]), dice.int(1, 3)
    hidden, target, skip, bias = dice.int(1, 9), dice.int(1, 9), dice.coin(), dice.coin()
    activation = dice.of(None, "torch.nn.ReLU", "torch.nn.Tanh", "torch.nn.GELU", "torch.nn.ELU", "torch.nn.Softplus")
    normalization = None if skip else dice.of(None, "torch.nn.LayerNorm")
    widths = (hidden_dims or [hidden] * (n_layers - 1)) + [target]
    layers, width = [], shape[-1]
    for i, out in enumerate(widths):
        layers.append(nn.Linear(width, out, bias=bias))
        if normalization:
            layers.append(nn.LayerNorm(out))
        if not (skip and i == len(widths) - 1):
            layers += activation_of(activation)
        width = out
    return Case("Linear", {"target_dim": target, "hidden_dim": hidden, "hidden_dims": hidden_dims, "n_layers": n_layers,
                           "linear_bias": bias, "activation": activation, "normalization": normalization,
                           "skip_last_activation": skip, "flatten_dims": None}, {"x": dice.normal(*shape)}, model(layers))


def conv1d(dice):
    channels, tokens, target, hidden, n = dice.int(1, 6), dice.int(1, 9), dice.int(1, 6), dice.int(1, 6), dice.int(1, 3)
    activation = dice.of(None, "torch.nn.ReLU", "torch.nn.SiLU")
    normalization = dice.of(None, "torch.nn.BatchNorm1d")
    bias = dice.coin()
    layers, width = [], channels
    for i in range(n):
        out = target if i == n - 1 else hidden
        layers.append(nn.Conv1d(width, out, 1, bias=bias))
        if normalization:
            layers.append(nn.BatchNorm1d(out))
        layers += activation_of(activation)
        width = out
    module = nn.Module()
    module.model = nn.Sequential(*layers)
    module.forward = lambda x: module.model(x.transpose(1, 2)).transpose(1, 2)
    return Case("Conv1dProjector", {"target_dim": target, "hidden_dim": hidden, "n_layers": n, "bias": bias,
                                    "activation": activation, "normalization": normalization},
                {"x": dice.normal(dice.of(2, 3), tokens + 1, channels)}, module, mode=dice.of("eval", "train"))


def low_rank(dice):
    width, rank, target = dice.int(1, 9), dice.int(1, 12), dice.int(1, 9)
    activation, bias = dice.of(None, "torch.nn.ReLU", "torch.nn.Sigmoid"), dice.coin()
    shape = [dice.batch()] + [dice.int(1, 4) for _ in range(dice.int(0, 2))] + [width]
    return Case("LowRankProjector", {"target_dim": target, "rank": rank, "bias": bias, "activation": activation},
                {"x": dice.normal(*shape)},
                model([nn.Linear(width, rank, bias=False)] + activation_of(activation) + [nn.Linear(rank, target, bias=bias)]))


# ---- encoders and decoders

def linear_encoder(dice):
    shape = [dice.of(1, 4)] + [dice.int(1, 5) for _ in range(dice.int(1, 3))]
    hidden, out, last, bias = dice.of(None, [5], [7, 3]), dice.int(1, 6), dice.coin(), dice.coin()
    activation = dice.of("torch.nn.ReLU", "torch.nn.LeakyReLU", "torch.nn.Mish", "torch.nn.Hardswish")
    widths, width, layers = (hidden or []) + [out], math.prod(shape[1:]), []
    for i, size in enumerate(widths):
        layers.append(nn.Linear(width, size, bias=bias))
        if i < len(widths) - 1 or last:
            layers += [nn.BatchNorm1d(size)] + activation_of(activation)
        width = size
    module = nn.Module()
    module.model = nn.Sequential(*layers)
    module.forward = lambda x: module.model(x.flatten(1))
    return Case("LinearEncoder", {"hidden_dims": hidden, "output_dim": out, "activation": activation, "last_activation": last,
                                  "bias": bias}, {"x": dice.normal(*shape)}, module,
                mode=dice.of("eval", "train") if shape[0] > 1 else "eval")


def schedule(dice):
    steps = dice.int(1, 3)
    channels = [dice.int(1, 5) for _ in range(steps)]
    kernels = dice.of(None, dice.pairs(steps, 1, 5))
    strides = dice.of(None, dice.pairs(steps, 1, 3))
    return channels, kernels, strides, [pair(k) for k in kernels or [3] * steps], [pair(s) for s in strides or [2] * steps]


class Encoder(nn.Module):
    def __init__(self, image, channels, kernels, strides, activation, out):
        super().__init__()
        layers, width = [], image.size(1)
        for c, k, s in zip(channels, kernels, strides):
            layers.append(nn.Sequential(nn.Conv2d(width, c, k, stride=s, padding=(k[0] // 2, k[1] // 2)),
                                        nn.BatchNorm2d(c), ACTIVATIONS[activation]()))
            width = c
        self.encoder = nn.Sequential(*layers)
        with torch.no_grad():
            self.eval()
            self.shape = list(self.encoder(image).shape[1:])
        self.projection = nn.Linear(math.prod(self.shape), out)

    def forward(self, x):
        return self.projection(self.encoder(x).flatten(1))


def encoder(dice):
    channels, kernels, strides, k, s = schedule(dice)
    activation, out = dice.of(*ACTIVATIONS), dice.int(1, 7)
    x = dice.normal(dice.of(1, 2, 3), dice.int(1, 4), dice.int(5, 17), dice.int(5, 17))
    module = Encoder(x, channels, k, s, activation, out)
    for layer in module.encoder:
        layer[1].reset_running_stats()
    return Case("ConvolutionalEncoder", {"output_dim": out, "channel_schedule": channels, "kernel_sizes": kernels,
                                         "strides": strides, "activation": activation}, {"x": x}, module,
                mode=dice.of("eval", "train") if x.size(0) > 1 else "eval",
                expected_attributes={"decoder_shape": module.shape})


class Decoder(nn.Module):
    def __init__(self, width, start, shape, channels, kernels, strides, activation):
        super().__init__()
        self.start, self.size = start, shape[1:]
        self.projection = nn.Linear(width, math.prod(start))
        layers, of = [], start[0]
        for c, k, s in reversed(list(zip(channels, kernels, strides))[:-1]):
            layers.append(nn.Sequential(nn.Upsample(scale_factor=tuple(float(f) for f in s), mode="bilinear",
                                                    align_corners=False),
                                        nn.Conv2d(of, c, k, padding=(k[0] // 2, k[1] // 2)), nn.BatchNorm2d(c),
                                        ACTIVATIONS[activation]()))
            of = c
        self.decoder = nn.Sequential(*layers)
        self.output_head = nn.Conv2d(of, shape[0], 3, padding=1)

    def forward(self, z):
        x = self.decoder(self.projection(z.flatten(1)).view(-1, *self.start))
        return self.output_head(F.interpolate(x, size=self.size, mode="bilinear", align_corners=False))


def decoder(dice):
    channels, kernels, strides, k, s = schedule(dice)
    start = [channels[-1], dice.int(1, 4), dice.int(1, 4)]
    shape = [dice.int(1, 3), dice.int(1, 15), dice.int(1, 15)]
    activation, width = dice.of(*ACTIVATIONS), dice.int(1, 6)
    batch = dice.of(1, 2, 3)
    return Case("ConvolutionalDecoder", {"output_shape": shape, "channel_schedule": channels, "kernel_sizes": kernels,
                                         "strides": strides, "activation": activation},
                {"z": dice.normal(batch, width)}, Decoder(width, start, shape, channels, k, s, activation),
                mode=dice.of("eval", "train") if batch > 1 else "eval", metadata={"decoder_shape": start})


class Variational(nn.Module):
    def __init__(self, width, latent, beta):
        super().__init__()
        self.mu_proj, self.logvar_proj, self.beta = nn.Linear(width, latent), nn.Linear(width, latent), beta

    def forward(self, x):
        x = x.flatten(1)
        mu, logvar = self.mu_proj(x), self.logvar_proj(x)
        z = mu + torch.randn_like(mu) * (0.5 * logvar).exp() if self.training else mu
        kl = (-0.5 * (1 + logvar - mu ** 2 - logvar.exp()).sum(1)).mean() * self.beta
        return z, mu, logvar, kl.expand(x.size(0))


def variational(dice):
    shape = [dice.batch()] + [dice.int(1, 5) for _ in range(dice.int(1, 3))]
    latent, beta, keys = dice.int(1, 6), dice.of(0.0, 1.0, 0.25, 4.0), dice.int(1, 4)
    return Case("VariationalLatent", {"latent_dim": latent, "beta": beta}, {"x": dice.normal(*shape)},
                Variational(math.prod(shape[1:]), latent, beta), outputs=["z", "mu", "logvar", "kl"][:keys],
                mode=dice.of("eval", "train"), rng_seed=dice.int(0, 10000))


class Noise(nn.Module):
    def __init__(self, level):
        super().__init__()
        self.level = level

    def forward(self, x):
        return x + torch.randn_like(x) * self.level * x.std() if self.training else x


def noise(dice):
    level = dice.of(0.0, 0.1, 2.0)
    return Case("AdditiveNoise", {"noise_level": level}, {"x": dice.normal(dice.of(1, 4), dice.int(2, 20))}, Noise(level),
                mode=dice.of("eval", "train"), rng_seed=dice.int(0, 10000), no_grad=True)


def resnet(dice):
    kind = dice.of("resnet18", "resnet34", "resnet50")
    cifar, channels, side = dice.of(None, True, False), dice.int(1, 4), dice.int(9, 33)
    network = getattr(torchvision.models, kind)(weights=None)
    if channels != 3:
        network.conv1 = nn.Conv2d(channels, 64, 7, stride=2, padding=3, bias=False)
    if cifar is not False:
        network.conv1 = nn.Conv2d(channels, 64, 3, stride=1, padding=1, bias=False)
        network.maxpool = nn.Identity()
    network.fc = nn.Identity()
    module = nn.Module()
    module.model = network
    module.forward = network.forward
    return Case("ResNet", {"resnet_type": kind, "pretrained": False, "cifar_stem": cifar},
                {"x": dice.normal(dice.of(1, 2), channels, side, dice.int(9, 33))}, module, rtol=2e-3, atol=1e-3,
                formula=True, no_grad=True)


# ---- heads, losses and scores

def head(dice):
    width, hidden, out = dice.int(1, 8), dice.of(None, [3], [5, 4]), dice.int(1, 6)
    shape = dice.of([width], [2, width])
    layers, size = [], math.prod(shape)
    for h in hidden or []:
        layers += [nn.Linear(size, h), nn.ReLU()]
        size = h
    module = nn.Module()
    module.head = nn.Sequential(*layers, nn.Linear(size, out))
    module.forward = lambda z: module.head(z.flatten(1))
    z = dice.normal(dice.batch(), *shape)
    if dice.coin():
        return Case("LatentClassificationHead", {"hidden_dims": hidden}, {"z": z}, module, num_classes=out)
    return Case("LatentRegressionHead", {"num_outputs": out, "hidden_dims": hidden}, {"z": z}, module)


def anomaly_score(dice):
    reduction = dice.of("mean", "max")
    batch = dice.batch()
    o = dice.normal(batch, *[dice.int(1, 5) for _ in range(dice.int(1, 3))])
    r = dice.normal(batch, *(o.shape[1:] if dice.coin() else [dice.int(1, 9)]))
    def score(o, r):
        o, r = o.flatten(1), r.flatten(1)
        n = min(o.size(1), r.size(1))
        error = (o[:, :n] - r[:, :n]) ** 2
        return error.mean(1) if reduction == "mean" else error.max(1).values
    return Case("AnomalyScore", {"reduction": reduction}, {"o": o, "r": r}, Call(score), no_grad=True)


def reconstruction(dice):
    batch = dice.batch()
    norm, use_mask, inverse, extra = dice.coin(), dice.coin(), dice.coin(), dice.int(0, 2)
    rows, columns, width = dice.int(1, 4), dice.int(2, 5), dice.int(2, 6)
    o, r = dice.normal(batch, rows * columns, width), dice.normal(batch, rows * columns, width)
    mask = dice.uniform(batch, extra + rows * columns) < 0.5
    if dice.coin():
        mask = mask.float()
    def loss(o, r, m):
        if norm:
            o = (o - o.mean(-1, keepdim=True)) / (o.var(-1, keepdim=True) + 1e-6).sqrt()
        error = (o - r) ** 2
        if not use_mask:
            return error.flatten(1).mean(1)
        kept = m[:, extra:].bool()
        kept = (~kept if inverse else kept).float()
        if kept.sum() == 0:
            return error.flatten(1).mean(1)
        return (error.mean(-1) * kept).sum(1) / kept.sum(1).clamp_min(1)
    return Case("ReconstructionLoss", {"norm_pix_loss": norm, "match_min_length": dice.coin(), "patch_size": None,
                                       "use_mask_loss": use_mask, "inverse_mask": inverse, "num_tokens": extra},
                {"o": o, "r": r, "m": mask}, Call(loss), outputs=["loss"])


def classification(dice):
    batch, classes = dice.batch(), dice.int(1, 6)
    kind = dice.of("cross_entropy", "bce", "binary_cross_entropy")
    smoothing = dice.of(0.0, 0.2) if kind == "cross_entropy" else 0.0
    logits = 3 * dice.normal(batch, classes)
    if kind == "cross_entropy":
        labels = (dice.uniform(batch) * classes).long()
        labels = dice.of(labels, labels.float(), labels.int())
        def loss(x):
            return F.cross_entropy(x, labels.long(), label_smoothing=smoothing).expand(batch)
    else:
        labels = dice.of((dice.uniform(batch, classes) < 0.5).float(), dice.uniform(batch, classes),
                         (dice.uniform(batch, classes) < 0.5).long())
        def loss(x):
            return F.binary_cross_entropy_with_logits(x, labels.float()).expand(batch)
    return Case("ClassificationLoss", {"loss_type": kind, "label_smoothing": smoothing}, {"logits": logits}, Call(loss),
                outputs=["loss"], labels={"y": labels})


def regression(dice):
    batch, outputs = dice.batch(), dice.int(1, 4)
    target = dice.normal(batch, outputs)
    return Case("RegressionLoss", {}, {"pred": dice.normal(batch, outputs)},
                Call(lambda x: F.mse_loss(x, target).expand(batch)), outputs=["loss"], labels={"t": target})


def logits_to_class(dice):
    return Case("LogitsToClass", {}, {"logits": dice.normal(dice.batch(), dice.int(1, 7))},
                Call(lambda x: x.argmax(-1).float()), no_grad=True)


def merge(dice):
    shape = [dice.batch()] + [dice.int(1, 4) for _ in range(dice.int(1, 3))]
    axis = dice.int(1, len(shape) - 1)
    inputs = {}
    for key in "abc"[:dice.int(1, 3)]:
        inputs[key] = dice.normal(*[dice.int(1, 4) if i == axis else size for i, size in enumerate(shape)])
    dim = dice.of(axis, axis - len(shape))
    return Case("MergeLayer", {"dim": dim}, inputs, Call(lambda *x: torch.cat(x, dim)))


MAKERS = [lmbe, l2, token_pool, attention_pool, statistics_pool, linear, conv1d, low_rank, linear_encoder, encoder, decoder,
          variational, noise, head, anomaly_score, reconstruction, classification, regression, logits_to_class, merge]
FEW = [resnet]


# ---- modules of torch.nn

def module_cases(dice):
    n = dice.normal
    yield "conv:Conv1d", [3, 4, 3], {"stride": 2, "padding": 2, "dilation": 2, "padding_mode": "reflect"}, n(1, 3, 11)
    yield "conv:Conv2d", [4, 6, [1, 3]], {"groups": 2, "padding": [0, 1], "bias": False, "padding_mode": "circular"}, n(2, 4, 7, 5)
    yield "conv:Conv2d", [2, 3, [2, 4]], {"padding": "same", "dilation": [2, 1]}, n(1, 2, 9, 8)
    yield "conv:Conv2d", [2, 3, 3], {"padding": "valid", "padding_mode": "replicate"}, n(1, 2, 9, 8)
    yield "conv:Conv3d", [1, 2, 3], {"padding": 1, "padding_mode": "replicate"}, n(1, 1, 4, 5, 6)
    yield "conv:ConvTranspose1d", [3, 2, 4], {"stride": 3, "padding": 1, "output_padding": 2}, n(1, 3, 5)
    yield "conv:ConvTranspose2d", [3, 4, 3], {"stride": [2, 1], "output_padding": [1, 0], "groups": 1, "dilation": 2}, n(2, 3, 4, 5)
    yield "batchnorm:BatchNorm1d", [5, 1e-3, 0.3], {"affine": False}, n(3, 5, 4)
    yield "batchnorm:BatchNorm2d", [2], {"momentum": None, "track_running_stats": True}, n(3, 2, 4, 3)
    yield "batchnorm:BatchNorm2d", [2], {"track_running_stats": False}, n(3, 2, 4, 3)
    yield "batchnorm:BatchNorm3d", [2], {"eps": 0.1}, n(2, 2, 2, 3, 2)
    yield "instancenorm:InstanceNorm1d", [3], {"affine": True}, n(2, 3, 6)
    yield "instancenorm:InstanceNorm2d", [3], {"eps": 1e-2}, n(1, 3, 6, 2)
    yield "normalization:GroupNorm", [2, 6], {"eps": 1e-3}, n(1, 6, 5)
    yield "normalization:GroupNorm", [3, 6], {"affine": False}, n(2, 6)
    yield "normalization:LayerNorm", [[3, 5]], {"eps": 1e-2, "elementwise_affine": True, "bias": False}, n(2, 3, 5)
    yield "normalization:LayerNorm", [5], {"elementwise_affine": False}, n(2, 3, 5)
    yield "normalization:LocalResponseNorm", [3], {"alpha": 0.5, "beta": 0.6, "k": 2.0}, n(2, 6, 4)
    yield "pooling:AvgPool1d", [3, 2, 1], {"ceil_mode": True, "count_include_pad": False}, n(1, 2, 10)
    yield "pooling:AvgPool2d", [[3, 2]], {"stride": [1, 2], "padding": [1, 0], "divisor_override": 5}, n(1, 2, 7, 6)
    yield "pooling:AvgPool3d", [2], {}, n(1, 1, 4, 5, 6)
    yield "pooling:MaxPool1d", [3], {"stride": 2, "dilation": 2, "ceil_mode": True}, n(1, 2, 12)
    yield "pooling:MaxPool2d", [3, 2, 1], {"dilation": [1, 2]}, n(2, 1, 9, 8)
    yield "pooling:AdaptiveAvgPool1d", [4], {}, n(1, 2, 7)
    yield "pooling:AdaptiveAvgPool2d", [[None, 3]], {}, n(1, 2, 5, 7)
    yield "pooling:AdaptiveMaxPool2d", [[2, 3]], {}, n(1, 2, 5, 7)
    yield "pooling:LPPool2d", [2.0, 3], {"stride": 2}, n(1, 2, 7, 7).abs()
    yield "pooling:LPPool1d", [3.0, 2], {"ceil_mode": True}, n(1, 2, 7).abs()
    yield "padding:ReflectionPad1d", [[2, 1]], {}, n(1, 2, 5)
    yield "padding:ReplicationPad2d", [[1, 2, 0, 3]], {}, n(1, 2, 4, 4)
    yield "padding:ConstantPad2d", [[1, -1, 0, 2], 0.7], {}, n(1, 2, 4, 4)
    yield "padding:ZeroPad2d", [2], {}, n(1, 2, 3, 3)
    yield "upsampling:Upsample", [], {"size": [5, 7], "mode": "bilinear", "align_corners": True}, n(1, 2, 3, 4)
    yield "upsampling:Upsample", [], {"scale_factor": [1.5, 2.3], "mode": "bicubic"}, n(1, 2, 5, 4)
    yield "upsampling:Upsample", [], {"scale_factor": 1.7, "mode": "linear"}, n(1, 2, 6)
    yield "upsampling:Upsample", [], {"scale_factor": 2.0, "mode": "trilinear", "align_corners": False}, n(1, 1, 2, 3, 2)
    yield "upsampling:Upsample", [], {"scale_factor": 2.5, "recompute_scale_factor": True}, n(1, 1, 3, 5)
    yield "pixelshuffle:PixelShuffle", [2], {}, n(1, 8, 2, 3)
    yield "pixelshuffle:PixelUnshuffle", [2], {}, n(1, 1, 4, 6)
    yield "fold:Unfold", [[2, 3]], {"dilation": [1, 2], "padding": 1, "stride": [2, 1]}, n(1, 2, 5, 6)
    yield "fold:Fold", [[4, 5], [2, 2]], {}, n(1, 8, 12)
    yield "flatten:Flatten", [2, -1], {}, n(2, 3, 4, 5)
    yield "flatten:Flatten", [], {"start_dim": 1, "end_dim": 2}, n(2, 3, 4, 5)
    yield "flatten:Unflatten", [1, [2, 3]], {}, n(2, 6, 2)
    yield "activation:GELU", [], {"approximate": "tanh"}, n(2, 7)
    yield "activation:Hardtanh", [-0.3, 0.6], {}, n(2, 7)
    yield "activation:Softplus", [2.0, 1.5], {}, n(2, 7)
    yield "activation:Softshrink", [0.3], {}, n(2, 7)
    yield "activation:Hardshrink", [0.3], {}, n(2, 7)
    yield "activation:Threshold", [0.1, -5.0], {}, n(2, 7)
    yield "activation:CELU", [1.7], {}, n(2, 7)
    yield "activation:PReLU", [3, 0.4], {}, n(2, 3, 2)
    yield "activation:RReLU", [0.2, 0.4], {}, n(2, 3, 2)
    yield "activation:GLU", [1], {}, n(2, 6, 3)
    yield "activation:Softmin", [1], {}, n(2, 3, 4)
    yield "activation:LogSoftmax", [], {"dim": 2}, n(2, 3, 4)
    yield "activation:Softmax2d", [], {}, n(2, 3, 4, 2)
    yield "activation:SELU", [], {}, n(2, 7)
    yield "activation:Mish", [], {}, n(2, 7)
    yield "activation:Hardsigmoid", [], {}, 4 * n(2, 7)
    yield "activation:Hardswish", [], {}, 4 * n(2, 7)
    yield "activation:LogSigmoid", [], {}, n(2, 7)
    yield "activation:ReLU6", [], {}, 4 * n(2, 7)
    yield "activation:Tanhshrink", [], {}, n(2, 7)
    yield "activation:Softsign", [], {}, n(2, 7)
    yield "dropout:Dropout2d", [0.3], {}, n(2, 3, 2, 2)
    yield "dropout:AlphaDropout", [0.3], {}, n(2, 7)


def module_case(path, args, kwargs, x, mode="eval"):
    name = path.split(":")[1]
    python = {k: tuple(v) if isinstance(v, list) and k not in ("size", "scale_factor") else
              tuple(v) if isinstance(v, list) else v for k, v in kwargs.items()}
    inner = getattr(nn, name)(*[tuple(a) if isinstance(a, list) else a for a in args], **python)
    module = nn.Module()
    module.module = inner
    module.forward = inner.forward
    return Case("NnModule", {"factory": f"torch.nn.modules.{path}", "args": args, "kwargs": kwargs}, {"x": x}, module,
                mode=mode, rtol=1e-4, atol=1e-5)


# ---- writing

def randomise(module, dice):
    """Norm weights and running statistics away from 0 and 1."""
    for name, buffer in module.named_buffers():
        if name.endswith("running_mean"):
            buffer.copy_(0.5 * dice.normal(*buffer.shape))
        if name.endswith("running_var"):
            buffer.copy_(0.5 + dice.uniform(*buffer.shape))
    with torch.no_grad():
        for parameter in module.parameters():
            if parameter.dim() == 1:
                parameter.add_(0.3 * dice.normal(*parameter.shape))


def by_formula(module):
    """The weights of `state_formula`, which are too many to be stored."""
    with torch.no_grad():
        for name, tensor in [*module.named_parameters(), *module.named_buffers()]:
            i = torch.arange(1, tensor.numel() + 1, dtype=torch.float64)
            values = torch.zeros_like(i)
            if tensor.dim() >= 2:
                values = 2 / math.sqrt(tensor.numel() // tensor.size(0)) * torch.sin(1.618 * i)
            elif name.endswith("running_var"):
                values = torch.ones_like(i)
            elif name.endswith("weight"):
                values = 1 + 0.1 * torch.sin(i)
            elif not name.endswith(("running_mean", "num_batches_tracked")):
                values = 0.05 * torch.cos(i)
            tensor.copy_(values.view(tensor.shape))


def write(case, name, folder, dice):
    module, tensors = case.module, {}
    formula = case.extra.pop("formula", False)
    no_grad = case.extra.pop("no_grad", False)
    by_formula(module) if formula else randomise(module, dice)
    module.train(case.mode == "train")
    state = dict(module.state_dict())
    names = [[key, list(value.shape)] for key, value in state.items()]
    if not formula:
        tensors |= {f"state.{key}": value.clone() for key, value in state.items()}
    # [batch, channels, ...] tensors of integers and masks take no gradient.
    inputs = {key: value.clone().requires_grad_(value.is_floating_point() and not no_grad)
              for key, value in case.inputs.items()}
    if "rng_seed" in case.extra:
        torch.manual_seed(case.extra["rng_seed"])
    with torch.set_grad_enabled(not no_grad):
        found = module(*inputs.values())
    found = list(found) if isinstance(found, tuple) else [found]
    outputs = dict(zip(case.outputs, found))
    tensors |= {f"in.{key}": value for key, value in case.inputs.items()}
    tensors |= {f"label.{key}": value for key, value in (case.labels or {}).items()}
    tensors |= {f"out.{key}": value.detach() for key, value in outputs.items()}
    if not no_grad and any(value.requires_grad for value in outputs.values()):
        sum(value.mean() for value in outputs.values()).backward()
        tensors |= {f"grad_in.{key}": value.grad for key, value in inputs.items()
                    if value.requires_grad and value.grad is not None and key != "m"}
        tensors |= {f"grad_param.{key}": value.grad for key, value in module.named_parameters() if value.grad is not None}
    if case.mode == "train" and not formula:
        tensors |= {f"state_after.{key}": value.clone() for key, value in module.named_buffers() if key.endswith(
            ("running_mean", "running_var", "num_batches_tracked"))}
    tensors = {key: value.detach().clone().contiguous() for key, value in tensors.items()}
    document = {"format": "nexuml-case/1", "case": name, "kind": "layer",
                "component": {"type": case.layer, "version": "1", "params": case.params},
                "keys_in": list(case.inputs), "keys_out": case.outputs, "label_in_x": False, "mode": case.mode,
                "label_key": next(iter(case.labels)) if case.labels else None, "labels_absent": not case.labels,
                "input_sizes": {key: list(value.shape[1:]) for key, value in case.inputs.items()},
                "tolerance": case.tolerance, "state_names": names, **case.extra}
    if formula:
        document["state_formula"] = True
    (folder / f"{name}.json").write_text(json.dumps(document) + "\n")
    save_file(tensors, folder / f"{name}.safetensors")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "tests/data/golden/odd")
    parser.add_argument("--rounds", type=int, default=2, help="cases of each layer")
    parser.add_argument("--seed", type=int, default=23)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(1)
    torch.manual_seed(options.seed)
    dice = Dice(options.seed)
    written = 0
    for round_ in range(options.rounds):
        for maker in MAKERS + (FEW if round_ == 0 else []):
            write(maker(dice), f"{maker.__name__}_{round_}", options.folder, dice)
            written += 1
    for i, (path, args, kwargs, x) in enumerate(module_cases(dice)):
        write(module_case(path, args, kwargs, x), f"module_{i:02}_{path.split(':')[1].lower()}", options.folder, dice)
        written += 1
    print(f"{written} cases in {options.folder}")


if __name__ == "__main__":
    main()
