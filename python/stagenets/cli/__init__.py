"""The commands of the command line, one per module; see `stagenets.cli._main`."""
