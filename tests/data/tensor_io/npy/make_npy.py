"""Writes the golden NPY and NPZ files with numpy (2.4)."""
import numpy as np

ramp = np.arange(6).reshape(2, 3)
for descr in "b1 u1 i1 u2 i2 u4 i4 u8 i8 f2 f4 f8 c8 c16".split():
    np.save(f"little_{descr}.npy", (ramp % 2 if descr == "b1" else ramp * 37).astype("<" + descr))
    if descr in ("i2", "u4", "f8", "c8"):
        np.save(f"big_{descr}.npy", (ramp * 37).astype(">" + descr))
np.save("scalar.npy", np.array(-0.0))
np.save("empty.npy", np.zeros((0, 3), np.int16))
np.save("vector.npy", np.arange(3, dtype=np.float32))
np.save("text.npy", np.array(["ab", "c"]))
np.save("dates.npy", np.array(["2026-01-31"], dtype="datetime64[D]"))
np.save("objects.npy", np.array([{}, 1], dtype=object), allow_pickle=True)
np.save("fields.npy", np.array([(1, 2.0)], dtype=[("a", "i4"), ("b", "f8")]))
for version in ((2, 0), (3, 0)):
    with open(f"version{version[0]}.npy", "wb") as file:
        np.lib.format.write_array(file, ramp.astype("<f4"), version=version)
np.savez("stored.npz", a=ramp.astype("<f4"), b=np.arange(3))
np.savez_compressed("deflated.npz", zeros=np.zeros((100, 100), np.float32), ramp=np.arange(1000))
