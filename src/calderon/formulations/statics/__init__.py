"""Statics of several materials: dielectrics, conductors of current, iron, metal at given potentials or charges."""
