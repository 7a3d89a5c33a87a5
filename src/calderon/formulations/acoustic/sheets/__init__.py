"""Thin sheets that sound goes through or around: screens, perforated and rigid plates."""
