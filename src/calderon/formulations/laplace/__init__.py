"""Potentials: Laplace's equation with given values or normal derivatives."""
