#!/usr/bin/python3
"""What the instructions of each cell do (PEERS): a table of all of them, by layer.

    tests/bench/left.py [--cards NAME,...] [--jobs N] [--no-write]

What nobody can avoid stands first: the words that go through the card's port or are copied to where
it sends from, each one instruction, and the checksum.  Into RESULTS.md.
"""

import argparse
import os
import sys
from concurrent.futures import ThreadPoolExecutor

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "emu"))

import document                            # noqa: E402  (needs the path)
import estimate                            # noqa: E402
from bench import chosen                   # noqa: E402
from goals import CELL                     # noqa: E402
from measure import load_image, measure    # noqa: E402
from rows import CARDS, ROWS               # noqa: E402

SECTION = "left"
WORDS = ("port_word", "move")
COLUMNS = (("driver", ("driver",)), ("netif", ("netif",)), ("lwIP", ("lwip",)),
           ("application", ("responder",)),
           ("interrupt, clock, turn", ("interrupt", "clock", "idle")))


def words_moved(got, image, listing):
    """Instructions that move words to the card, from it, or from memory to memory."""
    total = 0
    for address, _, kind, _ in listing:
        offset = address - image.base
        peer = any(start <= address < end for start, end in image.peer_ranges)
        if kind in WORDS and 0 <= offset < image.size and not peer:
            total += got.counts[offset]
    return total / got.units


def line(row, card, got, image, listing):
    """One cell's."""
    each = {name: count / got.units for name, count in got.layers.items()}
    words, checksum = words_moved(got, image, listing), each.get("checksum", 0)
    parts = [sum(each.get(layer, 0) for layer in layers) for _, layers in COLUMNS]
    in_driver = words - each.get("copy", 0)  # a copy by memcpy() is no part of the driver
    parts[0] -= max(in_driver, 0)
    rest = got.cost - words - checksum - sum(parts)
    linux = row.linux.get(card)
    goal = f"{linux * CELL:.0f}" if linux else "-"
    return (f"| {row.name} | {card} | {got.cost:.0f} | {goal} | {words:.0f} | {checksum:.0f} | "
            + " | ".join(f"{part:.0f}" for part in parts) + f" | {rest:.0f} |\n")


def table(cells, image, jobs):
    listing = estimate.disassemble(image.elf)
    head = (["row", "card", "ours", "goal", "words moved", "checksum"]
            + [name for name, _ in COLUMNS] + ["rest"])
    text = "| " + " | ".join(head) + " |\n" + "|---" * len(head) + "|\n"
    with ThreadPoolExecutor(jobs) as pool:
        found = pool.map(lambda cell: measure(*cell, image, detail=True), cells)
        for (row, card), got in zip(cells, found):
            text += line(row, card, got, image, listing)
            print(text.splitlines()[-1], flush=True)
    return text


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--cards")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--no-write", action="store_true")
    words = parser.parse_args()
    cards = chosen(words.cards, "card", CARDS, str)
    text = table([(row, card) for card in cards for row in ROWS], load_image(), words.jobs)
    if cards == CARDS and not words.no_write:
        document.replace(SECTION, text + f"\nCommit {document.commit()}.\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
