"""Files: whole or not at all; HDF5 files that are read back are verified before a number of them is used."""

from calderon.files.hdf5_contents import all_finite
from calderon.files.hdf5_reading import DamagedFile, SavedGroup, saved_file
from calderon.files.hdf5_writing import FileKind, new_file, put, put_texts
from calderon.files.pieces import OTHER, Identity, Pieces, checked_path, discard, identity_of, require_identity
from calderon.files.whole_file import file_path, flush_folder, flush_tree, sweep, warn_unsaved, whole_file

__all__ = [
    "OTHER",
    "DamagedFile",
    "FileKind",
    "Identity",
    "Pieces",
    "SavedGroup",
    "all_finite",
    "checked_path",
    "discard",
    "file_path",
    "identity_of",
    "flush_folder",
    "flush_tree",
    "new_file",
    "put",
    "put_texts",
    "require_identity",
    "saved_file",
    "sweep",
    "warn_unsaved",
    "whole_file",
]
