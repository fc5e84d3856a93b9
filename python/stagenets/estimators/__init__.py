"""The six estimators and the parts they share."""
