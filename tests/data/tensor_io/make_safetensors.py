"""Writes the golden safetensors files with the safetensors package (0.8) and torch (2.15)."""
import torch
from safetensors.torch import save_file

DTYPES = """bool uint8 int8 int16 uint16 int32 uint32 int64 uint64 float16 bfloat16 float32 float64 complex64
float8_e4m3fn float8_e5m2 float8_e8m0fnu float8_e4m3fnuz float8_e5m2fnuz""".split()

# 48 bytes of every kind of bit pattern: quiet and signalling NaNs with payloads, infinities, -0, subnormals, extremes.
PATTERN = torch.tensor(
    [0x00, 0x00, 0x80, 0x7F, 0x00, 0x00, 0x80, 0xFF, 0x01, 0x00, 0x80, 0x7F, 0xEF, 0xBE, 0xC0, 0xFF,
     0x00, 0x00, 0x00, 0x80, 0x01, 0x00, 0x00, 0x00, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F,
     0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xF0, 0x7F, 0x00, 0x7C, 0x01, 0x7C, 0x00, 0xFC, 0x00, 0x80],
    dtype=torch.uint8)

tensors = {}
for name in DTYPES:
    dtype = getattr(torch, name)
    tensors["t." + name] = (PATTERN & 1).to(torch.bool) if name == "bool" else PATTERN.clone().view(dtype)
tensors["scalar"] = torch.tensor(-0.0)
tensors["empty"] = torch.zeros(0, 3, dtype=torch.int16)
tensors['größe "\\\n\x01/'] = torch.arange(6, dtype=torch.float32).reshape(2, 3)
save_file(tensors, "all_dtypes.safetensors", metadata={"format": "pt"})
save_file({}, "no_tensors.safetensors")
