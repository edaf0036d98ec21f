"""What holds for every run, whatever its scenario. A law is a name; broken() and differences() yield (name, what was seen)."""
import json
import math
from typing import NamedTuple

NAMES = ("ends", "message", "result", "memory", "limits", "unattributed", "accounts", "ledger", "buffers", "messages", "time", "repeatable", "kernels")
ENDED = (0, 3, 5)  # complete or partial, stalled, a message failed
ROUNDING_GBPS = 0.01
MOST_UNATTRIBUTED = 0.005  # of line rate
SHARE_ROUNDING = 1e-6


class Outcome(NamedTuple):
    code: int
    err: str
    result: object
    series: str


def numbers(value, path=""):
    """(path, number) of every number below `value`."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from numbers(inner, f"{path}/{key}")
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from numbers(inner, f"{path}/{index}")
    elif isinstance(value, float):
        yield path, value


def limits(result):
    line = result["line_rate_gbps"]
    rows = result["limits"]
    for row in rows:
        if row["cause"] == "unattributed":
            if abs(row["gbps"]) > MOST_UNATTRIBUTED * line + ROUNDING_GBPS:
                yield "unattributed", f"unattributed {row['gbps']} of {line} Gb/s"
        elif row["gbps"] < -ROUNDING_GBPS:
            yield "limits", f"{row['cause']} {row['gbps']} Gb/s"
    if result["goodput_gbps"] > 0 and not rows and result["parameters"].get("transport") != "ideal":
        yield "limits", "there are none"
    if rows:
        total = sum(row["gbps"] for row in rows) + result["goodput_gbps"]
        if abs(total - line) > MOST_UNATTRIBUTED * line:
            yield "limits", f"limits and goodput sum to {total} of {line} Gb/s"
    if result["goodput_gbps"] > line + ROUNDING_GBPS:
        yield "limits", f"goodput {result['goodput_gbps']} above the line rate {line} Gb/s"


def accounts(result):
    for row in result["accounts"]:
        if row["in"] != row["out"] + row["lost"] + row["held"]:
            yield "accounts", f"{row}"


def ledger(result):
    for row in result["ledger"]:
        shares = [row["busy"], row["starved"], row["idle"], *row["blocked"].values()]
        if any(not -SHARE_ROUNDING <= share <= 1 + SHARE_ROUNDING for share in shares) or abs(sum(shares) - 1) > 1e-3:
            yield "ledger", f"{row}"


def buffers(result):
    for row in result["buffers"]:
        inside = 0 <= row["mean"] <= row["high_water"] + 1e-6 and row["p99"] <= row["high_water"] + 1e-6
        # Capacity 0: not bounded.
        bounded = row["capacity"] == 0 or row["high_water"] <= row["capacity"]
        if not (inside and bounded and 0 <= row["time_full_share"] <= 1 + SHARE_ROUNDING):
            yield "buffers", str({key: row[key] for key in row if key != "histogram"})


def messages(scenario, outcome):
    result = outcome.result
    counts, size = result["messages"], result["bytes"]
    if counts["completed"] + counts["failed"] > counts["count"] or size["delivered"] > size["offered"]:
        yield "messages", f"{counts} {size}"
    if result["status"] == "complete" and (counts["completed"] != counts["count"] or size["delivered"] != size["offered"]):
        yield "messages", f"complete with {counts} {size}"
    if size["corrupted"] != 0:
        yield "memory", f"{size['corrupted']} bytes differ from what was sent"
    packets = result["packets"]
    if scenario.transport == "mrc" and packets["delivered"] > packets["sent"]:
        yield "messages", f"{packets}"


def duration(scenario, result):
    times = [row["us"] for row in result["message_time_quantiles"]]
    if times != sorted(times):
        yield "time", "quantiles of message times decrease"
    if result["simulated_time_us"] > scenario.max_time_us + 1e-6:
        yield "time", f"{result['simulated_time_us']} us simulated, allowed {scenario.max_time_us}"


def broken(scenario, outcome):
    """All laws that one run breaks."""
    lines = outcome.err.splitlines()
    if outcome.code == -1:
        return [("ends", "does not end")]
    if outcome.code == 2:
        good = sum(not line.startswith("mrcsim: warning") for line in lines) == 1 and "internal error" not in outcome.err
        return [] if good else [("message", f"refused with: {outcome.err[:300]}")]
    if outcome.code == 4:
        return [("memory", f"exit code 4: {outcome.err[:300]}")]
    if outcome.code not in ENDED:
        return [("ends", f"exit code {outcome.code}: {outcome.err[-600:]}")]
    if not isinstance(outcome.result, dict):
        return [("result", f"exit code {outcome.code} without a result")]
    found = [("result", f"{path} is {number}") for path, number in numbers(outcome.result) if not math.isfinite(number)]
    result = outcome.result
    for law in (limits, accounts, ledger, buffers):
        found += law(result)
    found += messages(scenario, outcome)
    found += duration(scenario, result)
    return found


def differences(law, one, other, cost):
    """Where the results of two runs of one scenario differ."""
    if other.code != one.code:
        return [(law, f"exit codes {one.code} and {other.code}: {other.err[:200]}")]
    left, right = dict(one.result), dict(other.result)
    for result in (left, right):
        result["parameters"] = {key: value for key, value in result["parameters"].items() if key != "run.kernel"}
        if not cost:
            result.pop("cost")
    for key in left:
        if left[key] != right[key]:
            return [(law, f"{key} differs: {first_difference(left[key], right[key])}")]
    if one.series != other.series:
        return [(law, f"series.json differs: {first_difference(json.loads(one.series), json.loads(other.series))}")]
    return []


def first_difference(left, right, path=""):
    if type(left) is type(right) and isinstance(left, dict) and left.keys() == right.keys():
        return next((first_difference(left[key], right[key], f"{path}/{key}") for key in left if left[key] != right[key]), path)
    if type(left) is type(right) and isinstance(left, list) and len(left) == len(right):
        return next((first_difference(a, b, f"{path}/{i}") for i, (a, b) in enumerate(zip(left, right)) if a != b), path)
    return f"{path}: {str(left)[:80]} and {str(right)[:80]}"
