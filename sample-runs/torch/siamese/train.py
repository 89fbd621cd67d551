"""A Siamese network in PyTorch, whose gradient is NaN as soon as a batch has two equal pictures.

The distance is the root of a sum of squares. Where that sum is 0, the slope of the root is infinite, and infinity times 0 is
NaN: in the backward pass only, so that the loss of that step looks as good as the one before.

    pip install trainscope torch
    python train.py runs/siamese
    trainscope check runs/siamese
"""

import sys

import torch
import trainscope

STEPS = 60
STEP_WITH_A_DOUBLE = 37

torch.manual_seed(3)
torch.set_num_threads(1)


class Encoder(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = torch.nn.Conv2d(1, 4, 3, stride=2)
        self.norm = torch.nn.GroupNorm(2, 4)
        self.hidden = torch.nn.Linear(4 * 5 * 5, 32)
        self.code = torch.nn.Linear(32, 8)

    def forward(self, pictures: torch.Tensor) -> torch.Tensor:
        features = torch.relu(self.norm(self.conv(pictures)))
        return self.code(torch.tanh(self.hidden(features.flatten(1))))


class Siamese(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.encoder = Encoder()

    def forward(self, left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
        difference = self.encoder(left) - self.encoder(right)
        return difference.square().sum(dim=1).sqrt()  # the mistake: no small number below the root


def batch(step: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Pairs of pictures of stripes, and 1 where both have the same direction."""
    same = torch.randint(0, 2, (32,)).float()
    first = torch.randint(0, 2, (32,))
    second = torch.where(same == 1, first, 1 - first)

    def pictures(direction: torch.Tensor) -> torch.Tensor:
        phase = torch.rand(32, 1, 1) * 6.3
        rows, columns = torch.meshgrid(torch.arange(11.0), torch.arange(11.0), indexing="ij")
        way = torch.where(direction[:, None, None] == 0, rows, columns)
        return (torch.sin(way + phase) + 0.3 * torch.randn(32, 11, 11))[:, None]

    left, right = pictures(first), pictures(second)
    if step == STEP_WITH_A_DOUBLE:
        right[5], same[5] = left[5], 1.0
    return left, right, same


def main(folder: str) -> None:
    model = Siamese()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    settings = {"optimizer": "Adam", "learning_rate": 3e-3, "batch_size": 32, "margin": 1.0}
    with trainscope.start(folder, hparams=settings, every=1) as run:
        run.dataset([{"op": "Stripes", "size": 11}, {"op": "Pairs"}, {"op": "Batch", "size": 32}])
        run.watch(model, optimizer)
        for left, right, same in run.steps(batch(step) for step in range(STEPS)):
            distance = model(left, right)
            loss = (same * distance.square() + (1 - same) * torch.relu(1 - distance).square()).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            run.scalar("train/loss", loss)


if __name__ == "__main__":
    main(sys.argv[1])
