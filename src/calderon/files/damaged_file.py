"""The error for a file whose contents cannot be used."""

import os


class DamagedFile(ValueError):
    """A file that was read back is damaged, or does not describe what it should.

    file: its path. failure: what was found. remedy: what to do. Nothing of the file was used.
    """

    def __init__(self, file: str | os.PathLike[str], failure: str, remedy: str) -> None:
        super().__init__(file, failure, remedy)
        self.file, self.failure, self.remedy = os.fspath(file), failure, remedy

    def __str__(self) -> str:
        return f"{self.file!r} is damaged: {self.failure}; {self.remedy}"
