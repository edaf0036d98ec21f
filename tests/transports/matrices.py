"""Traffic of the comparisons: (source, destination) of flows that all begin at once, as connection matrices in htsim's format."""
import random


def permutation(nodes):
    """One cycle through all nodes in an order drawn by their number: nobody sends to itself."""
    order = list(range(nodes))
    random.Random(nodes).shuffle(order)
    return [(order[i], order[(i + 1) % nodes]) for i in range(nodes)]


def incast(nodes):
    return [(source, 0) for source in range(1, nodes)]


def all_to_all(nodes):
    """By distance, as software posts it: each node to its next, then to the one after it."""
    return [(source, (source + step) % nodes) for step in range(1, nodes) for source in range(nodes)]


KINDS = {"permutation": permutation, "incast": incast, "all_to_all": all_to_all}


def write_matrix(path, kind, nodes, size):
    flows = KINDS[kind](nodes)
    lines = [f"Nodes {nodes}", f"Connections {len(flows)}"]
    lines += [f"{source}->{destination} id {number} start 0 size {size}" for number, (source, destination) in enumerate(flows, 1)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
