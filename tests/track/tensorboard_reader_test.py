"""TensorBoard's own reader finds everything that a training run logs.

    python3 tensorboard_reader_test.py NEXUML_RUN SOURCE_ROOT
Goes on in the interpreter that NEXUML_TEST_PYTHON names (tests/requirements.txt). Ends with 77, for "skipped", where the
package `tensorboard` is not installed there either.
"""
import os
import subprocess
import sys
import tempfile
from pathlib import Path

try:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
except ImportError:
    other = os.environ.get("NEXUML_TEST_PYTHON", "")
    if other and os.path.exists(other) and os.environ.get("NEXUML_TEST_READER") != other:
        os.environ["NEXUML_TEST_READER"] = other  # once
        os.execv(other, [other, *sys.argv])
    print("skipped: the package tensorboard is not installed")
    sys.exit(77)

LOGGING = """
callbacks:
- {factory: 'lightning.pytorch.callbacks:LearningRateMonitor', kwargs: {logging_interval: step}}
- {factory: 'lightning.pytorch.callbacks:DeviceStatsMonitor'}
logging:
  tensorboard: {log_dir: tensorboard}
  diagram: {output_dir: diagrams}
  experiment_name: reader
"""


def main():
    host, source = sys.argv[1], Path(sys.argv[2])
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        digits = source / "examples" / "data" / "digits" / "digits.csv"
        text = (source / "examples" / "scenarios" / "digits-conv.yaml").read_text()
        scenario = folder / "digits.yaml"
        scenario.write_text(text.replace("../data/digits/digits.csv", str(digits)) + LOGGING)
        environment = {**os.environ, "NEXUML_LOGS_ROOT": str(folder)}
        environment.pop("NEXUML_DATA_ROOT", None)
        for _ in range(2):
            subprocess.run([host, "train", str(scenario), "--max-epochs", "2"], env=environment, check=True,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        runs = sorted((folder / "tensorboard" / "reader").iterdir())
        assert [run.name[-3:] for run in runs] == ["_v0", "_v1"], runs
        assert list((folder / "diagrams").glob("*.md")), "no drawing"
        artifacts = runs[0] / "artifacts"
        assert "pipeline:" in (artifacts / "config.yaml").read_text()
        assert "libraries:" in (artifacts / "runtime_metadata.yaml").read_text()
        assert (artifacts / "report.html").stat().st_size > 10000 and list((artifacts / "evaluation").rglob("*.png"))
        reader = EventAccumulator(str(runs[0]), size_guidance={"scalars": 0, "images": 0, "histograms": 0, "tensors": 0})
        reader.Reload()
        tags = reader.Tags()
        losses = reader.Scalars("train/loss")
        assert len(losses) == 2 and losses[0].step < losses[1].step and losses[1].value < losses[0].value, losses
        rates = reader.Scalars("lr-Adam")
        assert [rate.step for rate in rates] == list(range(1, losses[1].step + 1)), len(rates)
        assert reader.Scalars("DeviceStatsMonitor.on_train_batch_end/process_memory_mib")[-1].value > 10, tags
        assert any(tag.startswith("test/") for tag in tags["scalars"]), tags
        weights = reader.Histograms(tags["histograms"][0])
        value = weights[-1].histogram_value
        assert abs(sum(value.bucket) - value.num) < 1e-6 and value.min <= value.max, value
        assert tags["images"], tags
        image = reader.Images(tags["images"][0])[0]
        assert image.encoded_image_string.startswith(b"\x89PNG") and image.width > 100, (image.width, image.height)
        note = reader.Tensors("scenario/text_summary")[0].tensor_proto.string_val[0].decode()
        assert "pipeline:" in note, note[:200]


main()
