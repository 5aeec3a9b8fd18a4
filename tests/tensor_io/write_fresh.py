"""write_fresh.py FOLDER: state dicts as Python programs save them today, beside the same tensors as safetensors."""
import sys
from pathlib import Path

import torch
from safetensors.torch import save_file, save_model

folder = Path(sys.argv[1])
torch.manual_seed(0)


class Tied(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = torch.nn.Embedding(4, 3)
        self.head = torch.nn.Linear(3, 4)
        self.head.weight = self.embed.weight


def save(name, state, **options):
    torch.save(state, folder / (name + ".pt"), **options)
    save_file({key: value.detach().contiguous().clone() for key, value in state.items()}, folder / (name + ".safetensors"))


model = torch.nn.Sequential(torch.nn.Conv2d(2, 4, 3), torch.nn.BatchNorm2d(4), torch.nn.Flatten(), torch.nn.Linear(16, 2))
model(torch.randn(5, 2, 4, 4)).sum().backward()
save("state", model.state_dict())
save("protocol4", model.state_dict(), pickle_protocol=4)
save("half", {key: value.half() if value.is_floating_point() else value for key, value in model.state_dict().items()})
base = torch.randn(6, 4)
save("views", {"whole": base, "transposed": base.t(), "row": base[2], "stepped": base[::2, 1:3], "scalar": base[0, 0]})
save("parameters", dict(model.named_parameters()))
tied = Tied()
save("tied", tied.state_dict())
save_model(tied, folder / "tied_once.safetensors")
optimizer = torch.optim.Adam(model.parameters())
optimizer.step()
torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": 3}, folder / "training.pt")
save("training_model", model.state_dict())
