"""Learns which of eight levers pays. Its loss becomes NaN: the entropy takes the logarithm of a probability that is 0."""

import torch
import torch.nn.functional as F
from torch import nn

LEVERS = 8


def entropy_bonus(logits: torch.Tensor) -> torch.Tensor:
    p = F.softmax(logits, dim=-1)
    h = -(p * p.log()).sum(dim=-1)
    return h.mean()


class Policy(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.hidden = nn.Linear(4, 32)
        self.head = nn.Linear(32, LEVERS)

    def forward(self, states: torch.Tensor) -> torch.Tensor:
        return self.head(torch.tanh(self.hidden(states)))


def main() -> None:
    torch.manual_seed(0)
    policy = Policy()
    optimizer = torch.optim.Adam(policy.parameters(), lr=0.2)
    wanted = torch.randn(4, LEVERS)
    for step in range(120):
        states = torch.randn(64, 4)
        logits = policy(states)
        noise = -torch.log(-torch.log(torch.rand(64, LEVERS)))
        levers = (logits.detach() + noise).argmax(1)
        rewards = (states @ wanted).gather(1, levers[:, None]).squeeze(1)
        chosen = F.log_softmax(logits, dim=-1).gather(1, levers[:, None]).squeeze(1)
        loss = -(rewards * chosen).mean() - 0.01 * entropy_bonus(logits)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 20 == 0:
            print(f"step {step}: loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
