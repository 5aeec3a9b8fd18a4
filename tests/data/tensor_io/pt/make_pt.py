"""Writes the golden files of torch.save with torch (2.15)."""
import collections

import torch

DTYPES = """bool uint8 int8 int16 uint16 int32 uint32 int64 uint64 float16 bfloat16 float32 float64 complex64 complex128
float8_e4m3fn float8_e5m2 float8_e8m0fnu float8_e4m3fnuz float8_e5m2fnuz""".split()
# Bytes 0, 37, 74 ... modulo 256: every dtype gets NaNs, negative numbers and extremes somewhere.
PATTERN = (torch.arange(64) * 37 % 256).to(torch.uint8)


def typed(name):
    return (PATTERN & 1).to(torch.bool) if name == "bool" else PATTERN.clone().view(getattr(torch, name))


torch.save({name: typed(name) for name in DTYPES}, "all_dtypes.pt")

base = torch.arange(12, dtype=torch.float32).reshape(4, 3)
tagged = torch.arange(3.0)
tagged.note = "an attribute"
torch.save(
    {"base": base, "alias": base, "transposed": base.t(), "row": base[1], "expanded": torch.ones(1).expand(4),
     "scalar": torch.tensor(-0.0), "empty": torch.zeros(0, 3), "parameter": torch.nn.Parameter(base[:, 0].clone()),
     "conjugated": torch.complex(base, base + 1).conj(), "negated": torch.complex(base, base + 1).conj().imag,
     "tagged": tagged}, "views.pt")

torch.save(
    {"none": None, "yes": True, "no": False, "small": -3, "large": -(2**62), "huge": 2**70, "minus_huge": -(2**70),
     "ratio": 0.25, "nan": float("nan"), "text": "größe", "bytes": b"\x00\xffab", "complex": 1 - 2j, "list": [1, [2]],
     "tuple": (1, 2, 3, 4), "set": {7}, "size": torch.Size([2, 3]), "device": torch.device("cuda", 1),
     "dtype": torch.bfloat16, 5: "integer key", "ordered": collections.OrderedDict(a=1),
     "counter": collections.Counter("aab")}, "values.pt")

optimizer = torch.optim.Adam([torch.nn.Parameter(torch.ones(2))], lr=0.5)
torch.save({"model": {"w": torch.ones(2)}, "ema": {"w": torch.zeros(2)}, "optimizer": optimizer.state_dict()},
           "two_models.pt")
torch.save({"w": torch.ones(2)}, "legacy.pt", _use_new_zipfile_serialization=False)
