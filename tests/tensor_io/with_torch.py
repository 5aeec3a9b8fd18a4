"""with_torch.py LIBRARY_DIR SCRIPT ARGUMENT...: runs SCRIPT with Python's torch.

Where torch is not installed, the one beside the LibTorch in LIBRARY_DIR is used: a wheel that was unpacked without the
libraries of the GPU, which are gigabytes that a comparison of file formats does not need. The loader of the system wants a
library for each name all the same, so it is given empty ones, and functions are looked up when they are first called. The
one library of the wheel that needs data of such a library (libtorch_nvshmem) is replaced by one with the same functions,
which nobody calls without a GPU.
"""
import ctypes
import os
import re
import runpy
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

GPU_LIBRARY = re.compile(r"lib(cu|nccl|nv|cupti).*\.so")


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def needed(library):
    return re.findall(r"\(NEEDED\).*\[(.+)\]", output("readelf", "-d", "-W", str(library)))


def functions(library):
    lines = (line.split() for line in output("nm", "-D", "--defined-only", str(library)).splitlines())
    return sorted({line[2].split("@")[0] for line in lines if len(line) == 3 and line[1] == "T"})


def load_empty(folder, name, symbols=()):
    """A library of this name that defines the symbols as functions, loaded so that it is found under its name."""
    source = Path(folder) / (name + ".s")
    source.write_text('.section .note.GNU-stack,"",@progbits\n.text\n'
                      + "".join(f".globl {symbol}\n.type {symbol}, @function\n{symbol}:\n" for symbol in symbols) + " ret\n")
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("c++")
    library = Path(folder) / name
    subprocess.run([compiler, "-shared", "-nostdlib", "-o", library, f"-Wl,-soname,{name}", source], check=True)
    ctypes.CDLL(str(library), mode=os.RTLD_LAZY | os.RTLD_GLOBAL)


def use_torch_beside(library_dir):
    libraries = sorted(library_dir.glob("libtorch*.so")) + sorted(library_dir.glob("libc10*.so"))
    names = {name for library in libraries for name in needed(library)}
    with tempfile.TemporaryDirectory() as folder:
        for name in sorted(names):
            # The wheel's RPATH finds the two that come with it (cudart and cupti).
            if GPU_LIBRARY.match(name) and not any(library_dir.parent.parent.glob(f"nvidia/*/lib/{name}")):
                load_empty(folder, name)
        shmem = library_dir / "libtorch_nvshmem.so"
        if shmem.exists():
            load_empty(folder, shmem.name, functions(shmem))
    sys.setdlopenflags(os.RTLD_LAZY | os.RTLD_GLOBAL)
    sys.path.insert(0, str(library_dir.parent.parent))


try:
    import torch  # noqa: F401
except ImportError:
    for module in [name for name in sys.modules if name == "torch" or name.startswith("torch.")]:
        del sys.modules[module]
    if not (Path(sys.argv[1]).parent / "__init__.py").exists():
        sys.exit(f"there is no torch for Python, neither installed nor beside {sys.argv[1]}")
    use_torch_beside(Path(sys.argv[1]))
    import torch  # noqa: F401

sys.argv = sys.argv[2:]
sys.path.insert(0, str(Path(sys.argv[0]).parent))
runpy.run_path(sys.argv[0], run_name="__main__")
