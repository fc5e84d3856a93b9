"""Estimators that choose their parameters by cross-validation in one pass of the core."""
