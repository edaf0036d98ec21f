"""mrcsim from Python: runs and studies of the executable, and its files as pandas frames. Documented in docs/python.md.

    import mrcsim
    run = mrcsim.run("tb/scenarios/pair.toml", {"traffic.byte_scale": "10%"})
    run.goodput_gbps, run.limits
"""
from .command import Error, Settings, executable, version
from .result import Result, load, run
from .study import Curve, Study, Why, open_study, size, sweep, why
from .parameters import params

__all__ = ["Curve", "Error", "Result", "Settings", "Study", "Why", "executable", "load", "open_study", "params", "run", "size", "sweep",
           "version", "why"]
