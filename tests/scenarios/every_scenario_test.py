"""Each of the fifteen scenarios trains, evaluates and reports for two epochs from its file, on small data.

    python3 every_scenario_test.py NEXUML_RUN [SCENARIO...]
"""
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import small_data

FILES = Path(__file__).resolve().parent.parent / "data" / "scenarios"

# scenario: the data that it needs, and numbers that its summary has to hold.
SCENARIOS = {
    "audioset-conv-ae-clshead": ("audioset", ["test/accuracy", "test/f1", "eval/class_histogram/n_classes"]),
    "cifar-resnet": ("cifar10", ["test/accuracy", "eval/latent_visualizer/n_projected_samples", "best_val/loss"]),
    "conv-ae-toycaremu": ("toycaremu", ["test/auc", "test/pauc_10", "eval/anomaly_eval/f1_decision",
                                        "eval/anomaly_eval/machine/DCASE2026T2:dev:ToyCarEmu/auc"]),
    "dcase-conv-ae": ("dcase", ["test/auc", "test/pauc_10", "eval/anomaly_eval/auc"]),
    "dcase-conv-cvae": ("dcase", ["test/auc", "test/kl_loss"]),
    "fashionmnist-resnet": ("fashionmnist", ["test/accuracy", "test/f1"]),
    "linear-ae-toycaremu": ("toycaremu", ["test/auc", "eval/anomaly_eval/f1_decision"]),
    "mnist-resnet": ("mnist", ["test/accuracy", "test/f1", "eval/class_histogram/n_classes"]),
    "mnist-resnet-shards": ("mnist", ["test/accuracy", "test/f1"]),
    "synthetic-conv-ae-anomaly": (None, ["test/loss", "eval/mse", "eval/mae"]),
    "synthetic-conv-cvae-anomaly": (None, ["test/kl_loss", "eval/mse"]),
    "synthetic-linear-ae-multiclass": (None, ["test/accuracy", "test/f1"]),
    "synthetic-linear-ae-multilabel": (None, ["eval/accuracy", "eval/f1"]),
    "synthetic-linear-ae-reconstruction": (None, ["test/mse", "test/mae"]),
    "synthetic-linear-ae-regression": (None, ["eval/mse", "eval/mae", "eval/r2"]),
}


def source_of(name):
    """The file of the original; the AudioSet scenario, which it cannot resolve, from code."""
    file = FILES / f"{name}.yaml"
    return str(file) if file.exists() else name


def train(host, name, data, numbers, folder):
    runs = folder / "runs" / name
    environment = dict(os.environ, NEXUML_DATA_ROOT=str(data), NEXUML_LOGS_ROOT=str(folder))
    begin = time.monotonic()
    run = subprocess.run([host, "train", source_of(name), "--max-epochs", "2", "--run-dir", str(runs), "--threads", "2"],
                         env=environment, capture_output=True, text=True)
    if run.returncode != 0:
        return f"exit {run.returncode}\n{run.stderr[-3000:]}"
    summary = json.loads((runs / "summary.json").read_text())
    problems = [f"summary.json has no {key}; it has {', '.join(summary)}" for key in numbers if key not in summary]
    if summary.get("epochs") != 2:
        problems.append(f"{summary.get('epochs')} epochs")
    for file in ("report.html", "report.json", "metrics.csv"):
        if not (runs / file).exists():
            problems.append(f"{file} is missing")
    print(f"{name}: {time.monotonic() - begin:.1f} s", flush=True)
    return "\n".join(problems)


def anomalies_are_found(host, folder):
    """One digit that training never saw is told from the others by its reconstruction."""
    scenario = FILES.parent.parent.parent / "examples" / "scenarios" / "digits-anomaly.yaml"
    run = subprocess.run([host, "train", str(scenario), "--run-dir", str(folder / "digits"), "--threads", "1"],
                         env={key: value for key, value in os.environ.items() if key != "NEXUML_DATA_ROOT"},
                         capture_output=True, text=True)
    if run.returncode != 0:
        return run.stderr[-2000:]
    area = json.loads((folder / "digits" / "summary.json").read_text())["eval/anomaly_evaluator/auc"]
    print(f"digits-anomaly: AUC {area:.4f}", flush=True)
    return "" if area > 0.97 else f"an AUC of {area}, at least 0.97 expected"


def main():
    host, wanted = sys.argv[1], sys.argv[2:] or list(SCENARIOS)
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        for name in wanted:
            what, numbers = SCENARIOS[name]
            data = folder / "data" / (what or "none")
            if what and not data.exists():
                small_data.write(data, what)
            if problem := train(host, name, data, numbers, folder):
                failures += 1
                print(f"{name}: {problem}", flush=True)
        if not sys.argv[2:] and (problem := anomalies_are_found(host, folder)):
            failures += 1
            print(f"digits-anomaly: {problem}", flush=True)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
