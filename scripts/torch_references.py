"""Writes the reference numbers of the torch targets: trajectories of schedulers and optimizers from Python's torch.

    python scripts/torch_references.py        # needs torch; rewrites the JSON files of tests/data/torch
"""

import json
from pathlib import Path

import torch
from torch.optim import lr_scheduler as S

HERE = Path(__file__).resolve().parent.parent / "tests/data/torch"
METRICS = [1.0, 0.9, 0.95, 0.91, 0.905, 0.8, 0.8, 0.81, 0.8, 0.79999, 0.8, 0.9, 0.7, 0.7, 0.7, 0.7, 0.7, 0.7]
BASE = 0.1

# (name, kwargs, steps); parts of composed schedulers are (name, kwargs)
SCHEDULERS = [
    ("ConstantLR", {}, 8),
    ("ConstantLR", {"factor": 0.5, "total_iters": 3}, 6),
    ("LinearLR", {"start_factor": 0.1, "end_factor": 0.9, "total_iters": 6}, 9),
    ("StepLR", {"step_size": 3, "gamma": 0.5}, 10),
    ("MultiStepLR", {"milestones": [2, 5, 5, 9], "gamma": 0.3}, 12),
    ("ExponentialLR", {"gamma": 0.95}, 20),
    ("PolynomialLR", {"total_iters": 7, "power": 1.7}, 10),
    ("CosineAnnealingLR", {"T_max": 6, "eta_min": 0.002}, 20),
    ("CosineAnnealingWarmRestarts", {"T_0": 4}, 14),
    ("CosineAnnealingWarmRestarts", {"T_0": 1, "T_mult": 2, "eta_min": 0.01}, 20),
    ("CosineAnnealingWarmRestarts", {"T_0": 3, "T_mult": 3}, 45),
    ("OneCycleLR", {"max_lr": 0.4, "total_steps": 23}, 22),
    ("OneCycleLR", {"max_lr": 0.4, "epochs": 4, "steps_per_epoch": 5, "three_phase": True, "pct_start": 0.25}, 19),
    ("OneCycleLR", {"max_lr": 0.4, "total_steps": 10, "anneal_strategy": "linear", "div_factor": 4.0,
                    "final_div_factor": 100.0}, 9),
    ("ReduceLROnPlateau", {"patience": 1, "factor": 0.5}, 18),
    ("ReduceLROnPlateau", {"patience": 0, "cooldown": 2, "threshold": 0.05, "threshold_mode": "abs",
                           "min_lr": 0.02}, 18),
    ("ReduceLROnPlateau", {"mode": "max", "patience": 2, "factor": 0.3}, 18),
    ("SequentialLR", {"schedulers": [("LinearLR", {"start_factor": 0.1, "total_iters": 4}),
                                     ("CosineAnnealingLR", {"T_max": 8})], "milestones": [4]}, 14),
    ("SequentialLR", {"schedulers": [("ConstantLR", {"factor": 0.1, "total_iters": 20}),
                                     ("ExponentialLR", {"gamma": 0.9}),
                                     ("CosineAnnealingWarmRestarts", {"T_0": 3})], "milestones": [3, 7]}, 14),
    ("ChainedScheduler", {"schedulers": [("ConstantLR", {"factor": 0.1, "total_iters": 5}),
                                         ("ExponentialLR", {"gamma": 0.9})]}, 10),
    ("ChainedScheduler", {"schedulers": [("LinearLR", {"total_iters": 3}), ("StepLR", {"step_size": 2})]}, 8),
]

# (module, name, kwargs)
OPTIMIZERS = [
    ("sgd", "SGD", {}),
    ("sgd", "SGD", {"lr": 0.05, "momentum": 0.8, "dampening": 0.3, "maximize": True}),
    ("sgd", "SGD", {"lr": 0.1, "momentum": 0.9, "nesterov": True, "weight_decay": 0.01}),
    ("adam", "Adam", {}),
    ("adam", "Adam", {"lr": 0.02, "betas": (0.8, 0.9), "eps": 1e-3, "maximize": True}),
    ("adam", "Adam", {"lr": 0.02, "weight_decay": 0.2, "decoupled_weight_decay": True}),
    ("adam", "Adam", {"lr": 0.01, "amsgrad": True, "weight_decay": 0.1, "fused": True}),
    ("adam", "Adam", {"lr": 0.01, "amsgrad": True, "weight_decay": 0.1}),
    ("adamw", "AdamW", {"lr": 0.01}),
    ("adamw", "AdamW", {"lr": 0.05, "betas": (0.7, 0.95), "weight_decay": 0.3, "amsgrad": True}),
    ("adamw", "AdamW", {"lr": 0.01, "fused": True}),
    ("rmsprop", "RMSprop", {}),
    ("rmsprop", "RMSprop", {"lr": 0.05, "alpha": 0.9, "momentum": 0.8, "centered": True, "weight_decay": 0.1}),
    ("rmsprop", "RMSprop", {"centered": True, "maximize": True}),
    ("adagrad", "Adagrad", {}),
    ("adagrad", "Adagrad", {"lr": 0.1, "lr_decay": 0.1, "weight_decay": 0.05, "initial_accumulator_value": 0.3}),
    ("adadelta", "Adadelta", {}),
    ("adadelta", "Adadelta", {"lr": 0.5, "rho": 0.8, "weight_decay": 0.1, "maximize": True}),
    ("adamax", "Adamax", {}),
    ("adamax", "Adamax", {"lr": 0.05, "betas": (0.8, 0.99), "weight_decay": 0.1}),
    ("nadam", "NAdam", {}),
    ("nadam", "NAdam", {"lr": 0.05, "weight_decay": 0.1, "decoupled_weight_decay": True, "momentum_decay": 0.1}),
    ("radam", "RAdam", {"lr": 0.05}),
    ("radam", "RAdam", {"lr": 0.05, "betas": (0.8, 0.9), "weight_decay": 0.1, "decoupled_weight_decay": True}),
    ("lbfgs", "LBFGS", {"lr": 0.3, "max_iter": 1, "history_size": 3}),
]

LBFGS = [
    {},
    {"lr": 0.5, "max_iter": 4},
    {"lr": 0.1, "max_iter": 10, "max_eval": 3, "history_size": 2},
    {"line_search_fn": "strong_wolfe"},
    {"line_search_fn": "strong_wolfe", "max_iter": 5, "history_size": 3},
    {"line_search_fn": "strong_wolfe", "lr": 0.2, "max_iter": 7, "max_eval": 9},
    {"line_search_fn": "strong_wolfe", "max_iter": 3, "maximize": True},
    {"tolerance_grad": 0.5, "line_search_fn": "strong_wolfe"},
    {"tolerance_change": 1e-2, "max_iter": 6, "line_search_fn": "strong_wolfe"},
]


def make(name, kwargs, optimizer):
    kwargs = dict(kwargs)
    if "schedulers" in kwargs:
        kwargs["schedulers"] = [make(*part, optimizer) for part in kwargs["schedulers"]]
        if name == "ChainedScheduler":
            return S.ChainedScheduler(kwargs["schedulers"], optimizer)
    return getattr(S, name)(optimizer, **kwargs)


def written(kwargs):
    kwargs = dict(kwargs)
    if "schedulers" in kwargs:
        kwargs["schedulers"] = [{"factory": f"torch.optim.lr_scheduler:{name}", "args": [], "kwargs": of}
                                for name, of in kwargs["schedulers"]]
    return kwargs


def scheduler_case(name, kwargs, steps):
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=BASE, momentum=0.9)
    scheduler = make(name, kwargs, optimizer)
    group = optimizer.param_groups[0]
    rates, momenta = [group["lr"]], [group["momentum"]]
    for step in range(steps):
        optimizer.step()
        scheduler.step(METRICS[step]) if name == "ReduceLROnPlateau" else scheduler.step()
        rates.append(group["lr"])
        momenta.append(group["momentum"])
    case = {"factory": f"torch.optim.lr_scheduler:{name}", "kwargs": written(kwargs), "lrs": rates}
    if name == "ReduceLROnPlateau":
        case["metrics"] = METRICS[:steps]
    if name == "OneCycleLR":
        case["momenta"] = momenta
    return case


def optimizer_case(module, name, kwargs):
    """Minimises sum((a w - b)^2) of seeded a, b; the gradients are those of the loss at each step."""
    generator = torch.Generator().manual_seed(7)
    a, b = (torch.randn(2, 3, generator=generator) for _ in range(2))
    weight = torch.nn.Parameter(torch.randn(2, 3, generator=generator))
    start = weight.detach().clone()
    optimizer = getattr(torch.optim, name)([weight], **kwargs)

    def loss():
        optimizer.zero_grad()
        value = ((a * weight - b) ** 2).sum()
        value.backward()
        return value

    values = []
    for _ in range(12):
        optimizer.step(loss)
        values.append(weight.detach().flatten().tolist())
    return {"factory": f"torch.optim.{module}:{name}", "kwargs": kwargs, "a": a.flatten().tolist(),
            "b": b.flatten().tolist(), "start": start.flatten().tolist(), "weights": values}


def lbfgs_case(kwargs):
    """Rosenbrock's valley of six variables in double precision: weights, losses and evaluations after each step."""
    sign = -1 if kwargs.get("maximize") else 1
    start = [-1.2, 1.0, -0.5, 0.3, 1.4, -0.7]
    weight = torch.nn.Parameter(torch.tensor(start, dtype=torch.float64))
    optimizer = torch.optim.LBFGS([weight], **kwargs)
    evaluations = 0

    def loss():
        nonlocal evaluations
        evaluations += 1
        optimizer.zero_grad()
        valley = (100 * (weight[1:] - weight[:-1] ** 2) ** 2 + (1 - weight[:-1]) ** 2).sum()
        (sign * valley).backward()
        return sign * valley

    steps = []
    for _ in range(8):
        before = optimizer.step(loss)
        steps.append({"loss": float(before), "evaluations": evaluations, "weights": weight.detach().tolist()})
    return {"factory": "torch.optim.lbfgs:LBFGS", "kwargs": kwargs, "sign": sign, "start": start, "steps": steps}


def write(name, cases):
    lines = ",\n".join(json.dumps(case) for case in cases)
    (HERE / name).write_text(f"[\n{lines}\n]\n")


if __name__ == "__main__":
    write("schedulers.json", [scheduler_case(*case) for case in SCHEDULERS])
    write("optimizers.json", [optimizer_case(*case) for case in OPTIMIZERS])
    write("lbfgs.json", [lbfgs_case(case) for case in LBFGS])
