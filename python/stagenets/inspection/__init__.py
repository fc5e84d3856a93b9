"""Inspecting a fit: displays, and what notebooks show."""
