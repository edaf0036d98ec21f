"""Studies of many runs: sweep, size, why, and the SQLite file that has them (docs/study.md)."""
from __future__ import annotations

import contextlib
import dataclasses
import json
import pathlib
import shlex
import sqlite3
from collections.abc import Iterable, Mapping
from typing import Any, Union

import pandas as pd

from .command import Path, Settings, Value, assignments, call, text_of

#: What to vary: values, or a range as --vary takes it ("64..512:x2").
Axis = Union[str, Iterable[Value]]


class Study:
    """A study in a database, or all of a database."""

    def __init__(self, database: Path, identity: int | None = None) -> None:
        self.database = pathlib.Path(database)
        self.identity = identity

    def query(self, sql: str, parameters: Iterable[Any] = ()) -> pd.DataFrame:
        """Any query of the database, which is opened for reading."""
        with contextlib.closing(sqlite3.connect(f"file:{self.database}?mode=ro", uri=True)) as connection:
            return pd.read_sql_query(sql, connection, params=tuple(parameters))

    def _rows(self, view: str, order: str) -> pd.DataFrame:
        if self.identity is None:
            return self.query(f"SELECT * FROM {view} ORDER BY {order}")
        return self.query(f"SELECT * FROM {view} WHERE study_id = ? ORDER BY {order}", (self.identity,))

    @property
    def studies(self) -> pd.DataFrame:
        """The studies of the database."""
        return self.query("SELECT * FROM studies ORDER BY study_id")

    @property
    def runs(self) -> pd.DataFrame:
        """Each run, with a column for each key that was set."""
        return self._with_settings(self._rows("runs", "point, seed"))

    @property
    def points(self) -> pd.DataFrame:
        """Each point, with a column for each key that was set, and means over its seeds."""
        return self._with_settings(self._rows("points", "point"))

    @property
    def limits(self) -> pd.DataFrame:
        """Lost line rate by cause of each run, a row for each run: causes are columns, in Gb/s."""
        frame = self._rows("limits l JOIN runs r ON r.run_id = l.run_id", "r.point, r.seed")
        table = frame.pivot_table(index=["point", "seed"], columns="cause", values="gbps", fill_value=0.0)
        return table[table.sum().sort_values(ascending=False).index]

    @property
    def answer(self) -> dict[str, Any] | None:
        """The answer of a sizing as it is; None for a sweep or while there is none."""
        frame = self.query("SELECT answer FROM study WHERE id = ?", (self.identity,))
        return json.loads(frame.answer.iloc[0]) if len(frame) and frame.answer.iloc[0] else None

    def _with_settings(self, frame: pd.DataFrame) -> pd.DataFrame:
        settings = self._rows("setting", "study_id, point, position")
        if not len(settings):
            return frame
        wide = settings.pivot_table(index=["study_id", "point"], columns="key", values="value", aggfunc="first", sort=False)
        return wide.reset_index().merge(frame, on=["study_id", "point"], how="right").rename_axis(columns=None)


class Curve(Study):
    """A sizing: the smallest value that holds, and the curve that was tried."""

    @property
    def smallest(self) -> float | None:
        """The smallest value that meets the objective; None where there is none."""
        return (self.answer or {}).get("answer")

    @property
    def curve(self) -> pd.DataFrame:
        """The values that were tried: mean, low, high, holds, sram_bits, cause, cause_gbps."""
        return pd.DataFrame((self.answer or {}).get("curve", [])).set_index("value").sort_index()


@dataclasses.dataclass
class Why:
    """What would make a scenario faster (docs/why.md)."""

    baseline: dict[str, float]
    causes: pd.DataFrame
    remedies: pd.DataFrame


def open_study(database: Path, identity: int | None = None) -> Study:
    """A database of sweep, size, why or attack; `identity`: one of its studies."""
    return Study(database, identity)


def _study_of(database: Path, kind: str, arguments: list[str]) -> int:
    """The study of these arguments: each keeps the command that asked for it last."""
    frame = Study(database).query("SELECT id, command FROM study WHERE kind = ? ORDER BY id DESC", (kind,))
    for row in frame.itertuples():
        if shlex.split(row.command)[1:] == arguments:
            return int(row.id)
    raise LookupError(f"{database}: has no study of: mrcsim {shlex.join(arguments)}")


def _common(scenario: Path, settings: Settings | None, database: Path, seeds: int | None, jobs: int | None) -> list[str]:
    arguments = [str(scenario), *assignments(settings), "--db", str(database)]
    if seeds is not None:
        arguments += ["--seeds", str(seeds)]
    if jobs is not None:
        arguments += ["--jobs", str(jobs)]
    return arguments


def _axis_text(key: str, axis: Axis) -> str:
    return f"{key}={axis if isinstance(axis, str) else ','.join(text_of(value) for value in axis)}"


def sweep(scenario: Path, vary: Mapping[str, Axis], settings: Settings | None = None, *, seeds: int = 1, jobs: int | None = None,
          database: Path = "out/study.sqlite", options: list[str] | None = None) -> Study:
    """Runs every combination: vary={"pcie.read_tags": [64, 128], "fabric.loss_rate": "0..4%:+1%"}. Runs that are in the database
    are not repeated. `options`: more arguments of `mrcsim sweep`."""
    arguments = ["sweep", *_common(scenario, settings, database, seeds, jobs), "--quiet"]
    arguments += [word for key, axis in vary.items() for word in ("--vary", _axis_text(key, axis))]
    arguments += options or []
    call(arguments)
    return Study(database, _study_of(database, "sweep", arguments))


def size(scenario: Path, buffer: str, settings: Settings | None = None, *, hold: str | Iterable[str] = "goodput>=99%",
         seeds: int = 3, jobs: int | None = None, database: Path = "out/study.sqlite", options: list[str] | None = None) -> Curve:
    """Finds the smallest size of a buffer that holds an objective. Where no size holds, `smallest` is None."""
    holds = [hold] if isinstance(hold, str) else list(hold)
    arguments = ["size", *_common(scenario, settings, database, seeds, jobs), "--quiet", "--buffer", buffer]
    arguments += [word for text in holds for word in ("--hold", text)] + (options or [])
    call(arguments, allowed=(0, 3))
    return Curve(database, _study_of(database, "size", arguments))


def why(scenario: Path, settings: Settings | None = None, *, of: str = "goodput", seeds: int = 3, jobs: int | None = None,
        database: Path = "out/study.sqlite", options: list[str] | None = None) -> Why:
    """Finds by runs what makes a scenario faster: `of` is goodput, p99 or step."""
    arguments = ["why", *_common(scenario, settings, database, seeds, jobs), "--of", of, "--format", "json", *(options or [])]
    answer = json.loads(call(arguments).stdout)
    causes = pd.DataFrame(answer["causes"], columns=["cause", "gbps"]).set_index("cause")
    remedies = pd.DataFrame(answer["remedies"])
    if len(remedies):
        text = remedies["settings"].map(lambda chosen: " ".join(f"{key}={value}" for key, value in chosen.items()))
        remedies.insert(0, "change", text)
    return Why(answer["baseline"], causes, remedies)
