"""Where the instructions of a row go: by layer, and within each by function."""

from image import PEER

FUNCTIONS = 12   # shown of each layer
LEAST = 0.001    # of the row's cost, for a function to be shown


def show(line):
    """Print the profile of the median run of `line`; the peer's own instructions are left out."""
    m = line.measured

    def part(count, name):
        each = count / m.units
        return f"    {each:8.1f} {each / line.ours * 100:5.1f} %  {name}"

    print(f"\n{line.row} on {line.card}: {line.ours:.1f} instructions, of them")
    layers = sorted(((count, layer) for layer, count in m.layers.items() if layer != PEER),
                    reverse=True)
    for count, layer in layers:
        print(part(count, layer))
    for count, layer in layers:
        print(f"  {layer}, by function:")
        functions = sorted(((n, name) for (where, name), n in m.functions.items()
                            if where == layer), reverse=True)
        shown = [item for item in functions[:FUNCTIONS]
                 if item[0] / m.units >= LEAST * line.ours]
        for n, name in shown:
            print(part(n, name))
        rest = count - sum(n for n, _ in shown)
        if rest:
            print(part(rest, "all others"))
    print(flush=True)
