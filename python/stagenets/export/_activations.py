"""Constants of the activations, written out by the exports."""

SELU_SCALE, SELU_ALPHA = 1.0507009873554805, 1.6732632423543772
