"""The registry of parameters."""
from __future__ import annotations

import json

import pandas as pd

from .command import call


def params() -> pd.DataFrame:
    """Every parameter by name: type, unit, default, minimum, maximum, words, per_node, source, meaning."""
    return pd.DataFrame(json.loads(call(["params", "--format", "json"]).stdout)).set_index("name")
