"""The study of guided against one-shot networks, as ``residuum study`` runs it."""
