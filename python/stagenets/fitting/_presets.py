"""Groups of settings that work well together."""

from __future__ import annotations

from typing import Any

#: For many samples: large pools scored on a fifth of the rows, and 32 units per stage, chosen
#: jointly. There are few stages, and nearly all their work is matrix products. Use as
#: ``RVFLClassifier(**LARGE_BLOCKS)``.
LARGE_BLOCKS: dict[str, Any] = {
    "selection": "joint",
    "pool_size": 512,
    "block_size": 32,
    "score_fraction": 0.2,
}
