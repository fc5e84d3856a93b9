"""Export of fitted networks: model files, ONNX, NumPy source."""
