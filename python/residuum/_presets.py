"""Settings that go together."""

from __future__ import annotations

from typing import Any

#: For many samples: big pools scored on a fifth of the rows, 32 units a stage chosen jointly, each
#: unit seeing a few inputs. Nearly all work is matrix products, so a guided fit costs about as much
#: as drawing a few times as many units blindly, and needs far fewer. Use as
#: ``RVFLClassifier(**LARGE_BLOCKS)``.
LARGE_BLOCKS: dict[str, Any] = {
    "selection": "joint",
    "pool_size": 512,
    "block_size": 32,
    "score_fraction": 0.2,
    "weight_init": "sparse",
}
