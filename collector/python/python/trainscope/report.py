"""Report of a recording: what was written and what was lost."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Report:
    """Outcome of a recording, or its progress."""

    files: list[Path]
    """Event files, in order."""
    records_written: int
    """Records that the system has taken."""
    bytes_written: int
    """Bytes of event files that the system has taken."""
    dumps_written: int
    """Files with tensors in full."""
    lost: dict[str, int] = field(default_factory=dict)
    """Number of lost records by reason, without reasons that did not occur. `queue_full`: the disk was too slow;
    `disk`: the file system refused them; `removed`: their file was removed; `after_finish`; `forked`: recorded in a
    child process, which cannot record; `invalid`: arguments that are no record, or tensors that cannot be read."""
    lost_at: dict[str, str] = field(default_factory=dict)
    """First sentence about what was invalid, by the place in the program (`file:line`) that recorded it."""
    changes_skipped: int = 0
    """Changes of tensors that were not computed because of `snapshot_bytes`."""
    first_error: str | None = None
    """First error of the file system."""
    is_closed: bool = False
    """`True` if the last file is complete; `False` while recording, or if the disk hung until the end."""

    @property
    def is_complete(self) -> bool:
        """`True` if every record is in the files."""
        return self.is_closed and not self.lost
