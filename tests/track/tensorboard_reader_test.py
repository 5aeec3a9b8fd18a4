"""TensorBoard's own reader finds everything that a training run logs.

    python3 tensorboard_reader_test.py NEXUML_RUN SOURCE_ROOT
Ends with 77, for "skipped", where the package `tensorboard` is not installed.
"""
import os
import subprocess
import sys
import tempfile
from pathlib import Path

try:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
except ImportError:
    print("skipped: the package tensorboard is not installed")
    sys.exit(77)

LOGGING = """
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
        reader = EventAccumulator(str(runs[0]), size_guidance={"scalars": 0, "images": 0, "histograms": 0, "tensors": 0})
        reader.Reload()
        tags = reader.Tags()
        losses = reader.Scalars("train/loss")
        assert len(losses) == 2 and losses[0].step < losses[1].step and losses[1].value < losses[0].value, losses
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
