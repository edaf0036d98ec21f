"""The executable: where it is, and how it is called."""
from __future__ import annotations

import os
import pathlib
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from typing import Union

Value = Union[bool, int, float, str]
#: Parameters by name, as --set takes them: {"nic.ports": 4, "fabric.loss_rate": "1%", "transport": "mrc"}.
Settings = Mapping[str, Value]
Path = Union[str, os.PathLike[str]]


class Error(RuntimeError):
    """mrcsim ended with another exit code than 0 (docs/result.md); the text is what it said."""

    def __init__(self, exit_code: int, message: str) -> None:
        super().__init__(message or f"mrcsim ended with exit code {exit_code}")
        self.exit_code = exit_code


def executable() -> str:
    """The executable: $MRCSIM, that of the clone or bundle that this package is in, or mrcsim in $PATH."""
    if chosen := os.environ.get("MRCSIM"):
        return chosen
    here = pathlib.Path(__file__).resolve()
    for folder in here.parents:
        for candidate in (folder / "bin/mrcsim", folder / "build/tb/mrcsim/mrcsim"):
            if candidate.is_file() and os.access(candidate, os.X_OK):
                return str(candidate)
    if found := shutil.which("mrcsim"):
        return found
    raise FileNotFoundError("mrcsim is not built here and not in $PATH; $MRCSIM may name the executable")


def text_of(value: Value) -> str:
    """A value as the command line takes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def assignments(settings: Settings | None) -> list[str]:
    """Arguments --set key=value."""
    return [word for key, value in (settings or {}).items() for word in ("--set", f"{key}={text_of(value)}")]


def call(arguments: Sequence[str], allowed: Sequence[int] = (0,)) -> subprocess.CompletedProcess[str]:
    """Runs mrcsim; raises Error for an exit code that is not allowed."""
    done = subprocess.run([executable(), *arguments], capture_output=True, text=True, check=False)
    if done.returncode not in allowed:
        raise Error(done.returncode, done.stderr.strip())
    return done


def version() -> str:
    """What `mrcsim --version` prints: version, commit, what is built in."""
    return call(["--version"]).stdout.strip()
