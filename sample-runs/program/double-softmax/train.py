"""Classifies points on three spirals. Its loss stays above 0.55: the model ends with a softmax, and the loss applies one too."""

import math

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

CLASSES = 3


def spirals(count: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Points on interleaved spirals, and the spiral of each."""
    labels = torch.arange(count) % CLASSES
    along = torch.rand(count)
    angle = 4.0 * along + labels * (2.0 * math.pi / CLASSES) + 0.15 * torch.randn(count)
    return torch.stack((along * angle.cos(), along * angle.sin()), dim=1), labels


class Classifier(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.hidden = nn.Linear(2, 64)
        self.middle = nn.Linear(64, 64)
        self.head = nn.Linear(64, CLASSES)

    def forward(self, points: torch.Tensor) -> torch.Tensor:
        hidden = F.relu(self.hidden(points))
        hidden = F.relu(self.middle(hidden))
        return F.softmax(self.head(hidden), dim=1)


def main() -> None:
    torch.manual_seed(0)
    loader = DataLoader(TensorDataset(*spirals(1536)), batch_size=64, shuffle=True)
    model = Classifier()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for epoch in range(15):
        right = 0
        for points, labels in loader:
            probabilities = model(points)
            loss = F.cross_entropy(probabilities, labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            right += int((probabilities.argmax(1) == labels).sum())
        print(f"epoch {epoch}: loss {loss.item():.3f}, accuracy {right / 1536:.3f}")


if __name__ == "__main__":
    main()
