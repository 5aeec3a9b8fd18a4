"""A run over 5 GiB of data stays within a fixed size when its address space is capped at 4 GiB.

    python3 larger_than_memory_test.py NEXUML_RUN
The file is sparse: it takes no room on the disk.
"""
import json
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

ROWS, WIDTH = 1310720, 1024
ADDRESS_SPACE = 4 << 30
MOST_RESIDENT = 1 << 30

SCENARIO = """
name: larger-than-memory
data:
  datasets:
    - source: {type: tensor_file, version: '1', params: {path: large.npy}}
pipeline:
  stages:
    Encoder:
      - component: {type: LinearEncoder, version: '1', params: {hidden_dims: [], output_dim: 4}}
        keys_in: [features]
        keys_out: [latent]
    Decoder:
      - component: {type: LinearEncoder, version: '1', params: {hidden_dims: [], output_dim: 1024}}
        keys_in: [latent]
        keys_out: [reconstructed]
    Loss:
      - component: {type: ReconstructionLoss, version: '1', params: {}}
        keys_in: [features, reconstructed]
        keys_out: [reconstruction_loss]
training:
  loss_keys: {reconstruction_loss: 1.0}
  max_epochs: 1
  batch_size: 4096
  accelerator: cpu
"""


def write_sparse(path):
    literal = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({ROWS}, {WIDTH}), }}"
    header = literal.ljust(117) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode())
        file.truncate(file.tell() + ROWS * WIDTH * 4)


def main():
    host = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        write_sparse(folder / "large.npy")
        (folder / "scenario.yaml").write_text(SCENARIO)
        run = subprocess.run([host, "train", str(folder / "scenario.yaml"), "--run-dir", str(folder / "run")],
                             capture_output=True, text=True,
                             preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE)))
        if run.returncode != 0:
            sys.exit(f"exit {run.returncode}\n{run.stderr[-2000:]}")
        resident = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
        summary = json.loads((folder / "run" / "summary.json").read_text())
        print(f"{ROWS * WIDTH * 4 >> 20} MiB of data, {resident >> 20} MiB resident, {summary['seconds']:.0f} s")
        if resident > MOST_RESIDENT:
            sys.exit(f"{resident >> 20} MiB resident, at most {MOST_RESIDENT >> 20} MiB expected")


main()
