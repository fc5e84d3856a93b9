"""Small data sets in the study's format, and its commands without a process of their own."""

import numpy as np

from problems import inputs, labels
from stagenets.cli._main import main


def write_set(folder, name, n=60, p=4, q=2, seed=0, **more):
    """NAME.npz with n rows in no order, q classes that depend on the inputs."""
    rng = np.random.default_rng(seed)
    X = inputs(rng, n, p)
    y = labels(rng, X, q)
    np.savez(folder / f"{name}.npz", X=X, y=y, **more)
    return X, y


def command(*arguments):
    """Exit code of ``stagenets ARGUMENTS``."""
    return main([str(argument) for argument in arguments])
