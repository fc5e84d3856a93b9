"""The study of guided against one-shot networks, as ``stagenets study`` runs it."""
