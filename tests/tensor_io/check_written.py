"""check_written.py WRITTEN GOLDEN: reads with torch, safetensors and numpy what the runtime wrote, and compares it with the
golden files that these packages wrote."""
import sys
import zipfile
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file

written, golden = Path(sys.argv[1]), Path(sys.argv[2])


def same(left, right):
    assert left.dtype == right.dtype and left.shape == right.shape, (left, right)
    left, right = (t.detach().resolve_conj().resolve_neg().contiguous().reshape(-1) for t in (left, right))
    assert torch.equal(left.view(torch.uint8), right.view(torch.uint8)), (left, right)


def compare(left, right):
    if isinstance(right, torch.Tensor):
        same(left, right)
    elif isinstance(right, dict):
        assert list(left) == list(right), (list(left), list(right))
        for key in right:
            compare(left[key], right[key])
    elif isinstance(right, (list, tuple)) and not isinstance(right, torch.Size):
        assert type(left) is type(right) and len(left) == len(right), (left, right)
        for one, other in zip(left, right):
            compare(one, other)
    else:
        assert left == right or left != left and right != right, (left, right)


compare(load_file(written / "all_dtypes.safetensors"), load_file(golden / "all_dtypes.safetensors"))
assert (written / "all_dtypes.safetensors").read_bytes() == (golden / "all_dtypes.safetensors").read_bytes()

for name in ("all_dtypes.pt", "views.pt", "two_models.pt", "values.pt"):
    assert zipfile.ZipFile(written / name).testzip() is None
    expected = torch.load(golden / "pt" / name, weights_only=True)
    for key in ("huge", "minus_huge"):
        expected.pop(key, None)
    compare(torch.load(written / name, weights_only=True), expected)
    compare(torch.load(written / name, weights_only=True, mmap=True), expected)
views = torch.load(written / "views.pt", weights_only=True)
assert views["alias"].data_ptr() == views["base"].data_ptr() != views["row"].data_ptr()
assert views["row"].untyped_storage().data_ptr() == views["base"].untyped_storage().data_ptr()

arrays = np.load(written / "arrays.npz")
assert arrays.files == ["a", "größe"] and (arrays["a"] == np.arange(6).reshape(2, 3)).all()

# The optimizer of Python takes a state dict that was read and written again.
training = torch.load(written / "training.pt", weights_only=True)
model = torch.nn.Sequential(torch.nn.Conv2d(2, 4, 3), torch.nn.BatchNorm2d(4), torch.nn.Flatten(), torch.nn.Linear(16, 2))
model.load_state_dict(training["model"], strict=True)
optimizer = torch.optim.Adam(model.parameters())
optimizer.load_state_dict(training["optimizer"])
assert training["epoch"] == 3 and optimizer.state_dict()["state"][0]["step"] == 1
