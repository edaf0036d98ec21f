"""Runs of mrcsim from Python."""
import json
import pathlib
import subprocess


def run(mrcsim, folder, name, flows, settings):
    """(exit code, result or None, standard error) of flows given as (start in us, source, destination, bytes)."""
    trace = folder / f"{name}.csv"
    lines = ["start_us,src,dst,bytes,tag", *(f"{start},{source},{destination},{size},0" for start, source, destination, size in flows)]
    trace.write_text("\n".join(lines) + "\n", encoding="utf-8")
    scenario = folder / f"{name}.toml"
    scenario.write_text("", encoding="utf-8")
    out = folder / name
    done = subprocess.run([pathlib.Path(mrcsim).resolve(), "run", scenario, "--out", out, "--quiet", "--yes", "--set", f"traffic.trace={trace}",
                           *settings], capture_output=True, text=True, check=False)
    file = out / "result.json"
    return done.returncode, json.loads(file.read_text(encoding="utf-8")) if file.exists() else None, done.stderr
