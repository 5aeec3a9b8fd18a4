"""check_strategy.py CHECKPOINT: loads the weights of a strategy of two models into Python's modules, and computes with them what
the runtime computed (expected.safetensors beside: input and output)."""
import sys
from pathlib import Path

import torch
from safetensors.torch import load_file

checkpoint = Path(sys.argv[1])


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(3, 3)

    def forward(self, value):
        return self.linear(value)


models = torch.nn.ModuleDict({"encoder": Net(), "head": Net()})
models.load_state_dict(load_file(checkpoint / "model.safetensors"), strict=True)
expected = load_file(checkpoint.parent / "expected.safetensors")
output = models["head"](models["encoder"](expected["input"]))
assert torch.allclose(output, expected["output"], rtol=1e-6, atol=1e-6), (output, expected["output"])

moments = load_file(checkpoint / "trainer.safetensors")
assert moments["optimizer/linear.weight.momentum"].shape == (3, 3), sorted(moments)
