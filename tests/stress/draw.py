"""Random scenarios: settings within the registry's ranges, traffic, faults, fidelities, RTL in shadow."""
import copy
import json
import math
import random
import subprocess

# What the generator sets itself, or what would replace its trace.
OWN = {"seed", "transport", "fidelity", "traffic.trace", "traffic.format", "traffic.placement", "traffic.ranks", "traffic.rows",
       "traffic.background", "traffic.byte_scale", "traffic.ranks_per_nic", "traffic.nics_per_rank", "run.max_time_us", "run.stall_us",
       "run.node_under_test", "run.kernel", "fabric.nics", "fabric.nics_per_t0"}
MOST_BYTES = 1 << 21
SHADOWED = ("srv6_encap",)


class Table:
    """The registry, as the executable prints it."""

    def __init__(self, mrcsim):
        printed = subprocess.run([mrcsim, "params", "--format", "json"], capture_output=True, text=True, check=True).stdout
        self.rows = [row for row in json.loads(printed) if row["name"] not in OWN and (row["words"] or row["type"] != "text")]


class Scenario:
    def __init__(self, number):
        self.number = number
        self.transport = "mrc"
        self.fidelity = "detailed"
        self.nics = 2
        self.max_time_us = 1000.0
        self.settings = []  # (key, TOML text)
        self.faults = []    # lists of (key, TOML text)
        self.flows = []
        self.options = []
        self.compared = False

    def has_detailed(self):
        return self.transport == "mrc" and (self.fidelity == "detailed" or any(key.endswith(".fidelity") for key, _ in self.settings))

    def toml(self, trace="flows.csv"):
        lines = [f"seed = {self.number + 1}", f'transport = "{self.transport}"', f'fidelity = "{self.fidelity}"',
                 f'traffic.trace = "{trace}"', f"fabric.nics = {self.nics}", f"run.max_time_us = {self.max_time_us}", "run.stall_us = 2000"]
        lines += [f"{key} = {value}" for key, value in self.settings]
        for fault in self.faults:
            lines += ["[[fault]]", *(f"{key} = {value}" for key, value in fault)]
        return "\n".join(lines) + "\n"

    def flows_csv(self):
        return "start_us,src,dst,bytes,tag\n" + "".join(",".join(map(str, flow)) + "\n" for flow in self.flows)

    def without(self, keys):
        other = copy.copy(self)
        other.settings = [(key, value) for key, value in self.settings if key not in keys]
        return other

    def without_time(self):
        """Ends at once: only whether it is accepted is seen."""
        other = copy.copy(self)
        other.max_time_us = 1.0
        other.options = []
        return other

    def smaller(self):
        """Scenarios with a part left out, large parts first."""
        for name in ("settings", "faults", "flows", "options"):
            items = getattr(self, name)
            step = len(items)
            while step >= 1:
                for at in range(0, len(items), step):
                    rest = items[:at] + items[at + step:]
                    if len(rest) == len(items) or (name == "flows" and not rest):
                        continue
                    other = copy.copy(self)
                    setattr(other, name, rest)
                    yield other
                step //= 2


def value_of(rng, row):
    """TOML text of a value of the row's own range; most are near its default, some anywhere, some at an end."""
    if row["words"]:
        word = rng.choice(row["words"])
        return word if row["type"] == "integer" else f'"{word}"'
    if row["type"] == "boolean":
        return rng.choice(("true", "false"))
    low, high = row["minimum"], row["maximum"]
    kind = rng.random()
    default = float(row["default"])
    if kind < 0.08:
        value = rng.choice((low, high if high < 1e5 else low))
    elif kind < 0.75 and default > 0:
        value = default * math.exp(rng.uniform(-2.5, 2.5))
    else:
        top = min(high, max(1e4, 100 * default))
        least = max(low, 1e-3)
        value = math.exp(rng.uniform(math.log(least), math.log(max(top, least))))
    value = min(max(value, low), high)
    return str(round(value)) if row["type"] == "integer" else f"{value:.6g}".replace("e+", "e") if value else "0.0"


def fault(rng, nics, ports):
    at = rng.choice((0, 1, 7.5, 20, rng.uniform(0, 300)))
    entry = [("at_us", f"{at:.4f}"), ("for_us", f"{rng.choice((0.5, 10, 100, rng.uniform(1, 400))):.4f}")]
    port = f'"nic{rng.randrange(nics)}.port{rng.randrange(ports)}"'
    kind = rng.choice(("link_down", "link_flap", "link_rate", "loss", "corruption", "nic_port_loss", "plane_loss", "switch_reboot", "pcie_stall", "drain"))
    where = port
    if kind == "link_flap":
        entry += [("period_us", f"{rng.uniform(420, 900):.3f}"), ("count", str(rng.randrange(1, 5)))]
    elif kind == "link_rate":
        entry += [("share", f"{rng.choice((0.001, 0.01, 0.5, rng.uniform(0.001, 1))):.5f}")]
    elif kind in ("loss", "corruption"):
        entry += [("probability", f"{rng.random():.4f}"), ("packets", f'"{rng.choice(("all", "data", "control", "retransmission"))}"')]
    elif kind in ("plane_loss", "drain"):
        where = f'"plane{rng.randrange(ports)}"'
    elif kind == "switch_reboot":
        where = f'"plane{rng.randrange(ports)}.t0.0"'
        entry += [("light", rng.choice(("true", "false")))]
    elif kind == "pcie_stall":
        where = f'"nic{rng.randrange(nics)}"'
    return [("kind", f'"{kind}"'), ("where", where), *entry]


def traffic(rng, nics):
    pattern = rng.choice(("pair", "incast", "all_to_all", "permutation", "random"))
    pairs = {"pair": [(0, 1)] * rng.randrange(1, 9),
             "incast": [(source, 0) for source in range(1, nics)],
             "all_to_all": [(a, b) for a in range(nics) for b in range(nics) if a != b],
             "permutation": [(a, (a + 1) % nics) for a in range(nics)],
             "random": []}[pattern]
    if not pairs:
        for _ in range(rng.randrange(1, 20)):
            a = rng.randrange(nics)
            pairs.append((a, (a + rng.randrange(1, nics)) % nics))
    most = MOST_BYTES / len(pairs)
    together = rng.random() < 0.5
    flows = []
    for tag, (source, target) in enumerate(pairs):
        size = max(1, round(math.exp(rng.uniform(0, math.log(most)))))
        flows.append((0 if together else round(rng.uniform(0, 50), 3), source, target, size, tag))
    return flows


def scenario(table, seed, number):
    rng = random.Random(f"{seed}.{number}")
    s = Scenario(number)
    s.transport = rng.choices(("mrc", "rocev2", "ideal"), (8, 3, 1))[0]
    s.fidelity = rng.choice(("detailed", "endpoint"))
    s.nics = rng.choice((2, 2, 3, 4, 8))
    s.max_time_us = round(rng.choice((5000.0, 1000.0, 300.0, rng.uniform(1, 500))), 6)
    s.compared = rng.random() < 0.1
    s.flows = traffic(rng, s.nics)
    s.settings = [("fabric.nics_per_t0", str(rng.choice((2, 4, 8, 256))))]
    neighbourhood = rng.choice(("", "", "", "nic.", "pcie.", "fabric.", "protocol."))
    rows = [row for row in table.rows if row["name"].startswith(neighbourhood)]
    for row in rng.sample(rows, min(len(rows), rng.choice((0, 1, 2, 4, 8, 16)))):
        prefix = f"node.nic{rng.randrange(s.nics)}." if row["per_node"] and rng.random() < 0.3 and row["name"] != "nic.ports" else ""
        s.settings.append((prefix + row["name"], value_of(rng, row)))
    if s.transport == "mrc" and rng.random() < 0.15:
        s.settings.append((f"node.nic{rng.randrange(s.nics)}.fidelity", '"detailed"'))
    ports = next((int(value) for key, value in s.settings if key == "nic.ports"), 8)
    if s.transport != "ideal" and rng.random() < 0.5:
        s.faults = [fault(rng, s.nics, ports) for _ in range(rng.randrange(1, 5))]
        rated = [f for f in s.faults if f[0][1] == '"link_rate"']
        s.faults = [f for f in s.faults if f not in rated[1:]]
    if s.transport == "mrc" and s.fidelity == "detailed" and rng.random() < 0.05:
        s.options = ["--shadow", ",".join(SHADOWED)]
    return s
