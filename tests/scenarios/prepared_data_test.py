"""Prepared data is written once, used again, and made anew when its source, its recipe or the seed changes.

    python3 prepared_data_test.py NEXUML_RUN
"""
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

SCENARIO = """
name: prepared
data:
  datasets:
    - source: {type: csv, version: '1', params: {path: table.csv, label: kind}}
  skip_pipeline_stages: [Features]
  loader: {backend: {type: BACKEND, version: '1', params: {}}}
  preprocessing:
    enabled: true
    path: prepared
    until_x_keys: [normal]
    writer: {factory: 'nexuml.data.export.WRITER'}
pipeline:
  stages:
    Features:
      - component: {type: L2Normalize, version: '1', params: {}}
        keys_in: [features]
        keys_out: [normal]
    Head:
      - component: {type: LatentClassificationHead, version: '1', params: {}}
        keys_in: [normal]
        keys_out: [logits]
    Loss:
      - component: {type: ClassificationLoss, version: '1', params: {}}
        keys_in: [logits]
        keys_out: [loss_of_class]
        label_key: label
training:
  loss_keys: {loss_of_class: 1.0}
  max_epochs: 2
  batch_size: 16
  accelerator: cpu
evaluation: {metrics: [accuracy]}
"""


class Runs:
    def __init__(self, host, folder):
        self.host, self.folder, self.count = host, folder, 0

    def train(self, *options):
        """The summary of a run, and the codes of what it said."""
        self.count += 1
        run_folder = self.folder / f"run{self.count}"
        run = subprocess.run([self.host, "train", str(self.folder / "scenario.yaml"), "--run-dir", str(run_folder), "--json",
                              *options],
                             env={**os.environ, "NEXUML_LOGS_ROOT": str(self.folder)}, capture_output=True, text=True)
        if run.returncode != 0:
            sys.exit(f"exit {run.returncode}\n{run.stderr[-3000:]}")
        codes = [entry["code"] for entry in json.loads(run.stdout)["diagnostics"]]
        return json.loads((run_folder / "summary.json").read_text()), codes

    def written(self):
        return (self.folder / "prepared" / "config.yaml").stat().st_mtime_ns


def write_table(path, rows, first=0):
    lines = ["a,b,c,kind"] + [f"{i % 3},{(i * 7) % 5},{1 + i % 2},{'odd' if i % 2 else 'even'}" for i in range(first, first + rows)]
    path.write_text("\n".join(lines) + "\n")


def try_writer(host, writer, backend):
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        (folder / "scenario.yaml").write_text(SCENARIO.replace("WRITER", writer).replace("BACKEND", backend))
        write_table(folder / "table.csv", 100)
        runs = Runs(host, folder)
        first, _ = runs.train()
        begin = runs.written()
        again, _ = runs.train()
        assert runs.written() == begin, "made again without need"
        for key in ("train/loss", "test/loss", "eval/accuracy"):
            assert first[key] == again[key], (key, first[key], again[key])
        table = folder / "table.csv"
        os.utime(table)
        runs.train()
        assert runs.written() == begin, "made again because a file was touched"
        write_table(table, 100, first=1)
        _, said = runs.train()
        changed = runs.written()
        assert changed != begin and "W838" in said, "an outdated preparation was used"
        runs.train("--seed", "5")
        assert runs.written() != changed, "another seed used the preparation of the first"
        files = sorted(path.name for path in folder.iterdir() if path.name.startswith("prepared"))
        assert files == ["prepared"], files


def main():
    host = sys.argv[1]
    try_writer(host, "tensor_shards:TensorShardsBackend", "tensor_shards")
    try_writer(host, "tensor_shards:TensorShardsBackend", "torch")
    try_writer(host, "numpy_files:NumpyBackend", "torch")
    try_writer(host, "numpy_mmap:NumpyMmapBackend", "torch")
    print("prepared data follows its source")


main()
