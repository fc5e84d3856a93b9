"""Settings that go together."""

from __future__ import annotations

from typing import Any

#: For many samples: big pools scored on a fifth of the rows, 32 units a stage chosen jointly. There
#: are few stages, and nearly all their work is matrix products. Use as
#: ``RVFLClassifier(**LARGE_BLOCKS)``.
LARGE_BLOCKS: dict[str, Any] = {
    "selection": "joint",
    "pool_size": 512,
    "block_size": 32,
    "score_fraction": 0.2,
}
