"""Writes small data sets in the layouts of the published ones, for trying scenarios without them.

    python3 small_data.py FOLDER [mnist fashionmnist cifar10 dcase toycaremu audioset]

The contents follow from the number of a sample alone, so two calls write the same bytes.
"""
import gzip
import math
import struct
import sys
import wave
from pathlib import Path

SECTIONS = ["00", "01"]
DEV_2022 = ["bearing", "fan", "gearbox", "slider", "ToyCar", "ToyTrain", "valve"]
MACHINES = {
    ("DCASE2020T2", "dev"): ["fan", "pump", "slider", "ToyCar", "ToyConveyor", "valve"],
    ("DCASE2020T2", "eval"): ["fan", "pump", "slider", "ToyCar", "ToyConveyor", "valve"],
    ("DCASE2021T2", "dev"): ["fan", "gearbox", "pump", "slider", "ToyCar", "ToyTrain", "valve"],
    ("DCASE2021T2", "eval"): ["fan", "gearbox", "pump", "slider", "ToyCar", "ToyTrain", "valve"],
    ("DCASE2022T2", "dev"): DEV_2022,
    ("DCASE2022T2", "eval"): DEV_2022,
    ("DCASE2023T2", "dev"): DEV_2022,
    ("DCASE2023T2", "eval"): ["bandsaw", "grinder", "shaker", "ToyDrone", "ToyNscale", "ToyTank", "Vacuum"],
    ("DCASE2024T2", "dev"): DEV_2022,
    ("DCASE2024T2", "eval"): ["3DPrinter", "AirCompressor", "BrushlessMotor", "HairDryer", "HoveringDrone", "RoboticArm",
                              "Scanner", "ToothBrush", "ToyCircuit"],
    ("DCASE2025T2", "dev"): DEV_2022,
    ("DCASE2025T2", "eval"): ["AutoTrash", "BandSealer", "CoffeeGrinder", "HomeCamera", "Polisher", "ScrewFeeder",
                              "ToyPet", "ToyRCCar"],
    ("DCASE2026T2", "dev"): ["bearingEmu", "fan", "gearboxEmu", "sliderEmu", "ToyCar", "ToyCarEmu", "valveEmu"],
    ("DCASE2026T2", "eval"): ["BlowerDustCollector", "Sander", "SewingMachine", "ToothBrush", "ToyDrone"],
}


def noise(seed):
    """Bytes of a linear congruential generator."""
    while True:
        seed = (seed * 6364136223846793005 + 1442695040888963407) % 2**64
        yield seed >> 56


def image(number, label, size):
    """A bright bar whose place says the class, in noise."""
    random = noise(number + 1)
    pixels = bytearray(next(random) // 4 for _ in range(size))
    begin = label * size // 10
    for at in range(begin, begin + size // 10):
        pixels[at] = 200 + next(random) // 8
    return bytes(pixels)


def idx(folder, train, test):
    folder.mkdir(parents=True, exist_ok=True)
    for prefix, count, first in (("train", train, 0), ("t10k", test, 1000)):
        labels = bytes(i % 10 for i in range(count))
        images = b"".join(image(first + i, labels[i], 784) for i in range(count))
        with gzip.GzipFile(folder / f"{prefix}-images-idx3-ubyte.gz", "wb", mtime=0) as file:
            file.write(struct.pack(">4I", 0x803, count, 28, 28) + images)
        with gzip.GzipFile(folder / f"{prefix}-labels-idx1-ubyte.gz", "wb", mtime=0) as file:
            file.write(struct.pack(">2I", 0x801, count) + labels)


def cifar10(folder, count=12):
    folder = folder / "cifar-10-batches-bin"
    folder.mkdir(parents=True, exist_ok=True)
    for batch in range(5):
        records = b"".join(bytes([i % 10]) + image(100 * batch + i, i % 10, 3072) for i in range(count))
        (folder / f"data_batch_{batch + 1}.bin").write_bytes(records)


def wav(path, number, pitch, seconds, rate=16000, channels=1):
    path.parent.mkdir(parents=True, exist_ok=True)
    random = noise(number + 7)
    frames = int(seconds * rate)
    samples = []
    for i in range(frames):
        value = int(8000 * math.sin(2 * math.pi * pitch * i / rate)) + (next(random) - 128) * 16
        samples += [value] * channels
    with wave.open(str(path), "wb") as file:
        file.setnchannels(channels)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(struct.pack(f"<{len(samples)}h", *samples))


def machine_clips(root, dataset, kind, machine, seconds, train=1, test=2):
    """Training clips of the source and target domain, test clips normal and anomalous."""
    folder = root / dataset / f"{kind}_data" / "raw" / machine
    number = sum(map(ord, dataset + kind + machine))
    pitch = 200 + number % 400
    for i in range(train):
        domain = "target" if i % 4 == 3 else "source"
        name = (f"normal_id_00_{i:08d}.wav" if dataset == "DCASE2020T2" else
                f"section_{SECTIONS[i % 2]}_{domain}_train_normal_{i:04d}_v_{i}.wav")
        wav(folder / "train" / name, number + i, pitch, seconds)
    for i in range(test):
        state = "anomaly" if i % 2 else "normal"
        domain = "target" if i % 4 >= 2 else "source"
        name = (f"{state}_id_00_{i:08d}.wav" if dataset == "DCASE2020T2" else
                f"section_{SECTIONS[i // 4 % 2]}_{domain}_test_{state}_{i:04d}.wav")
        wav(folder / "test" / name, number + 50 + i, pitch * (1.6 if i % 2 else 1), seconds)


def dcase(root):
    for (dataset, kind), machines in MACHINES.items():
        for machine in machines:
            machine_clips(root, dataset, kind, machine, seconds=0.2)


def audioset(root, train=12, test=6):
    meta = root / "metadata"
    meta.mkdir(parents=True, exist_ok=True)
    names = ["Speech", "Male speech, man speaking", "Female speech, woman speaking", "Child speech, kid speaking"]
    names += [f"Class {i}" for i in range(len(names), 527)]
    lines = ["index,mid,display_name"] + [f'{i},/m/{i:05x},"{name}"' for i, name in enumerate(names)]
    (meta / "class_labels_indices.csv").write_text("\n".join(lines) + "\n")
    rows = ["file,labels"]
    for i in range(train):
        name = f"video{i:06d}__m{i % 3:05x}.wav"
        wav(root / "bal_train" / name, i, 150 + 100 * (i % 3), 0.5, rate=22050 if i % 2 else 16000, channels=1 + i % 2)
        rows.append(f'/somewhere/else/bal_train/{name},"{names[i % 3]};{names[3]}"')
    rows.append("/somewhere/else/bal_train/gone.wav,Speech")
    (meta / "bal_train_meta.csv").write_text("\n".join(rows) + "\n")
    for i in range(test):  # the labels stand in the names
        wav(root / "eval" / f"video{i:06d}__{names[i % 3].replace(' ', '_')}.wav", 500 + i, 150 + 100 * (i % 3), 0.5)


def write(folder, what):
    folder = Path(folder)
    if what == "mnist":
        idx(folder / "mnist", 40, 12)
    elif what == "fashionmnist":
        idx(folder / "fashionmnist", 40, 12)
    elif what == "cifar10":
        cifar10(folder / "cifar10")
    elif what == "dcase":
        dcase(folder / "DCASET2")
    elif what == "toycaremu":
        machine_clips(folder / "DCASET2", "DCASE2026T2", "dev", "ToyCarEmu", seconds=1.0, train=12, test=8)
    elif what == "audioset":
        audioset(folder / "audioset_hf" / "full")
    else:
        sys.exit(f"unknown data set {what}")


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    for name in sys.argv[2:]:
        write(sys.argv[1], name)
