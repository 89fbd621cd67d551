"""Steps of a training that a watch looks at."""

from __future__ import annotations


class Looks:
    """The open step, the sampled step whose update is to come, and the one before it; -1 without one."""

    def __init__(self) -> None:
        self.step = self.look_step = self.last_look = -1
        # Step of the last update.
        self.update_step = -1
        # A forward pass was made in the sampled step.
        self.has_forward = False

    def includes(self, step: int) -> bool:
        """True if the step is looked at, or one that has begun since the last update."""
        return 0 <= self.look_step <= step or 0 <= step == self.last_look

    def is_begun(self, step: int) -> bool:
        """True if the step is open, and is the sampled one."""
        return step == self.step == self.look_step

    def leave(self, step: int) -> None:
        """Ends the look of an earlier step before this one, if that was updated or had no forward pass."""
        is_over = self.look_step <= self.update_step < step
        if self.look_step >= 0 and (is_over or (step != self.step and not self.has_forward)):
            self.last_look, self.look_step = self.look_step, -1

    def begin(self, step: int) -> None:
        """Begins to look at a step."""
        self.look_step, self.has_forward = step, False

    def note_update(self, step: int) -> None:
        """Notes the step of an update."""
        self.update_step = max(self.update_step, step)
