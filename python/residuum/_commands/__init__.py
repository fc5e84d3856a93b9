"""The commands of the command line, one a module; see `residuum._cli`."""
