"""Surfaces and solids in Nastran's bulk data (MSC, NX, OptiStruct)."""
