"""The release: the folder that anyone may hold. Its format, and how to open and verify it from the files alone."""

from discreet.release.manifest import FORMAT, Manifest
from discreet.release.release import Release, open_release
from discreet.release.verify import Report, verify
from discreet.release.verify.check import Check

__all__ = ["FORMAT", "Check", "Manifest", "Release", "Report", "open_release", "verify"]
