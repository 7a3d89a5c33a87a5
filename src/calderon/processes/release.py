"""The release of the package."""

from importlib.metadata import PackageNotFoundError, version


def package_version() -> str:
    """The installed release of calderon, or "0+unknown" for a source tree that is not installed."""
    try:
        return version("calderon")
    except PackageNotFoundError:
        return "0+unknown"
