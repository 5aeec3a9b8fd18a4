"""Ends well where the packages are there that the comparisons need."""
import numpy  # noqa: F401
import safetensors.torch  # noqa: F401
import torch

torch.nn.Linear(2, 2)(torch.ones(1, 2)).sum().backward()
