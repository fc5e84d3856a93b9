"""From parameters to a fitted network: checks, draws, stopping, progress, the result."""
