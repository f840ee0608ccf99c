"""What has to be reached (PEERS; issue "A packet at a quarter of Linux's price")."""

import math

from rows import OFF

CELL = 0.25     # of Linux: the goal of each cell
GEOMEAN = 0.25  # the geometric mean of all cells, at most
WORST = 0.33    # no cell above
OFF_RATIO = 0.60  # TCP receive with batch=off, of Linux, at most
GAIN = 1.5      # how many times dearer batch=off is than batch=on in bulk TCP receive, at least:
                # the geometric mean of the cards measured

# The names of those that fail the bench when missed; the others are only told.
ENFORCED = ("off", "gain", "geomean")


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def summary(lines):
    """(worst, geometric mean) of the ratios; None without any."""
    ratios = [line.ratio for line in lines if line.ratio and line.row != OFF.name]
    if not ratios:
        return None, None
    return max(ratios), geometric_mean(ratios)


def gains(lines):
    """card -> instructions with batch=off over those with batch=on, where both were measured."""
    cost = {(line.row, line.card): line.ours for line in lines}
    return {card: cost[OFF.name, card] / ours for (row, card), ours in cost.items()
            if row == "tcp_rx" and (OFF.name, card) in cost}


def missed(lines, whole):
    """(name, text) of each goal that is not reached; `whole`: all cells were measured."""
    found = [("off", f"{line.card} {line.row}: {line.ratio:.3f} of Linux, at most {OFF_RATIO}")
             for line in lines if line.row == OFF.name and line.ratio > OFF_RATIO]
    gain = gains(lines).values()
    if gain and geometric_mean(gain) < GAIN:
        found.append(("gain", f"tcp_rx: batch=on is {geometric_mean(gain):.2f} times as good as "
                              f"off, want {GAIN}"))
    found += [("worst", f"{line.card} {line.row}: {line.ratio:.3f} of Linux, at most {WORST}")
              for line in lines if line.row != OFF.name and line.ratio and line.ratio > WORST]
    _, geomean = summary(lines)
    if whole and geomean > GEOMEAN:
        found.append(("geomean", f"geometric mean {geomean:.4f}, at most {GEOMEAN}"))
    return found
