"""A run: result.json, series.json, messages.csv and flows.csv as pandas frames."""
from __future__ import annotations

import functools
import json
import pathlib
import shutil
import tempfile
import weakref
from typing import Any

import pandas as pd

from .command import Error, Path, Settings, assignments, call

#: Exit codes of runs that leave a result: complete, stalled, mismatch, failed, interrupted.
_WITH_RESULT = (0, 3, 4, 5, 130)


class Result:
    """What a run has left in its folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = pathlib.Path(folder)
        #: result.json as it is; docs/result.md says what is in it.
        self.json: dict[str, Any] = json.loads((self.folder / "result.json").read_text(encoding="utf-8"))

    def __repr__(self) -> str:
        return f"<{self.json['scenario']}, seed {self.json['seed']}: {self.status}, {self.goodput_gbps:.1f} Gb/s>"

    @property
    def status(self) -> str:
        return str(self.json["status"])

    @property
    def goodput_gbps(self) -> float:
        return float(self.json["goodput_gbps"])

    @property
    def simulated_time_us(self) -> float:
        return float(self.json["simulated_time_us"])

    @property
    def parameters(self) -> pd.Series:
        """The effective configuration by name."""
        return pd.Series(self.json["parameters"], name="value", dtype=object)

    @property
    def limits(self) -> pd.DataFrame:
        """Lost line rate by cause, largest first: gbps, relieved_by."""
        return pd.DataFrame(self.json["limits"], columns=["cause", "gbps", "relieved_by"]).set_index("cause")

    @property
    def buffers(self) -> pd.DataFrame:
        """Buffers by node and name: capacity, unit, mean, p99, high_water, time_full_share, refusals."""
        frame = pd.DataFrame(self.json["buffers"]).drop(columns="histogram", errors="ignore")
        return frame.set_index(["node", "name"]) if len(frame) else frame

    @property
    def ledger(self) -> pd.DataFrame:
        """Shares of time of each issue slot by node and box: busy, starved, idle, and blocked by each cause."""
        rows = [{**{key: row[key] for key in ("node", "box", "busy", "starved", "idle")},
                 **{f"blocked.{cause}": share for cause, share in row["blocked"].items()}} for row in self.json["ledger"]]
        frame = pd.DataFrame(rows)
        return frame.set_index(["node", "box"]).fillna(0.0) if len(frame) else frame

    @property
    def switch_ports(self) -> pd.DataFrame:
        """Switch ports by name: packets, bytes, dropped, trimmed, ce_marked, most_queued_bytes."""
        frame = pd.DataFrame(self.json["switch_ports"])
        return frame.set_index("port") if len(frame) else frame

    @property
    def sram(self) -> pd.DataFrame:
        """On-chip memories of the node under test."""
        frame = pd.DataFrame(self.json["sram"])
        return frame.set_index("structure") if len(frame) else frame

    @property
    def events(self) -> pd.DataFrame:
        """Faults and the reactions of the NICs: time_us, what, where, effect."""
        return pd.DataFrame(self.json["events"], columns=["time_us", "what", "where", "effect"])

    @property
    def messages(self) -> pd.DataFrame:
        """messages.csv: each message with its times."""
        return pd.read_csv(self.folder / "messages.csv")

    @property
    def flows(self) -> pd.DataFrame:
        """flows.csv: each pair of nodes."""
        return pd.read_csv(self.folder / "flows.csv")

    @functools.cached_property
    def series_json(self) -> dict[str, Any]:
        """series.json as it is."""
        series: dict[str, Any] = json.loads((self.folder / "series.json").read_text(encoding="utf-8"))
        return series

    def _over_time(self, columns: dict[str, list[float]]) -> pd.DataFrame:
        frame = pd.DataFrame({name: pd.Series(values, dtype=float) for name, values in columns.items()})
        frame.index = pd.Index(frame.index * self.series_json["step_us"], name="time_us")
        return frame

    @property
    def plane_goodput(self) -> pd.DataFrame:
        """Goodput of the node under test over time, Gb/s, a column for each plane."""
        rows = self.series_json["plane_goodput_gbps"]
        return self._over_time({f"plane{plane}": values for plane, values in enumerate(rows)})

    @property
    def buffer_occupancy(self) -> pd.DataFrame:
        """Levels of buffers over time, a column for each."""
        return self._over_time(self.series_json["buffer_occupancy"])

    @property
    def queue_bytes(self) -> pd.DataFrame:
        """Bytes queued at switch ports over time, a column for each."""
        return self._over_time(self.series_json["queue_bytes"])

    def ev_states(self, node: str) -> pd.DataFrame:
        """Number of EVs of a node in each state over time."""
        return self._over_time(self.series_json["ev_states"][node])


def load(folder: Path) -> Result:
    """The result in a folder that `mrcsim run` wrote."""
    return Result(folder)


def run(scenario: Path, settings: Settings | None = None, *, seed: int | None = None, out: Path | None = None,
        options: list[str] | None = None, check: bool = True) -> Result:
    """Runs a scenario. `out`: folder of the result; without it a temporary one that lasts as long as the result. `options`: more
    arguments of `mrcsim run`. With `check`, a run that did not end well (docs/result.md, exit codes) raises Error."""
    own = None if out is not None else tempfile.mkdtemp(prefix="mrcsim.")
    folder = pathlib.Path(out) if out is not None else pathlib.Path(str(own)) / "out"
    arguments = ["run", str(scenario), *assignments(settings), "--quiet", "--out", str(folder), *(options or [])]
    if seed is not None:
        arguments += ["--seed", str(seed)]
    try:
        done = call(arguments, allowed=_WITH_RESULT)
        if check and done.returncode != 0:
            raise Error(done.returncode, done.stderr.strip())
        result = Result(folder)
    except BaseException:
        if own is not None:
            shutil.rmtree(own, ignore_errors=True)
        raise
    if own is not None:
        weakref.finalize(result, shutil.rmtree, own, ignore_errors=True)
    return result
