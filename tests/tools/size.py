#!/usr/bin/python3
"""size.py OUT: where memory goes.  The kernel's text, constants, data and bss by layer, its largest
symbols, the product's parts; and, in QEMU with several sizes of memory, what the pools take.

Debug information says which source a symbol is from.  What was inlined counts where it was inlined;
strings, padding and what assembler makes (the stack) are a row of their own.
"""
import collections
import os
import re
import struct
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "emu"))

from qemu import GUEST_IP, Qemu  # noqa: E402  (needs the path)

COLUMNS = ("text", "const", "data", "bss")
KINDS = {"t": "text", "r": "const", "d": "data", "b": "bss"}
SECTIONS = {"text": (".text",), "const": (".rodata", ".layer_map", ".note.gnu.build-id"),
            "data": (".data",), "bss": (".bss",)}
LAYERS = ("boot", "kernel", "drivers", "net", "lwip")
UNNAMED = "unnamed"
LARGEST = 20
MEMORY_MB = (2, 4, 8, 16)


def run(*command, **options):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, **options).stdout


# ---- the image ----

def symbols(elf):
    """address -> (name, kind, bytes)"""
    found = {}
    for line in run("nm", "-S", "--defined-only", elf).splitlines():
        words = line.split()
        if len(words) == 4 and words[2].lower() in KINDS:
            found[int(words[0], 16)] = (words[3], KINDS[words[2].lower()], int(words[1], 16))
    return found


def sources_of_code(elf, addresses):
    told = run("addr2line", "-e", elf, *(f"{at:#x}" for at in addresses)).splitlines()
    return {at: where.rsplit(":", 1)[0] for at, where in zip(addresses, told)}


DIE = re.compile(r" <\d+><([0-9a-f]+)>: .*\((DW_TAG_\w+)\)")
ATTRIBUTE = re.compile(r"    <[0-9a-f]+>   (DW_AT_\w+) *: (.*)")

ADDRESS = re.compile(r"\(DW_OP_addr: ([0-9a-f]+)\)$")


def variables(elf):
    """address -> (source, name), by the debug information.

    With link-time optimisation the place is told apart from the definition, which stands in the
    unit of its source, and that apart from the declaration in a header, which has the name.
    """
    units, names, further, placed = {}, {}, {}, {}
    unit = at = tag = None
    for line in run("readelf", "--debug-dump=info", "-W", elf).splitlines():
        die, attribute = DIE.match(line), ATTRIBUTE.match(line)
        if die:
            at, tag = int(die[1], 16), die[2]
            units[at] = unit
        elif attribute and tag == "DW_TAG_compile_unit" and attribute[1] == "DW_AT_name":
            unit = attribute[2].split("): ")[-1].strip()
        elif attribute and tag == "DW_TAG_variable":
            address = ADDRESS.search(attribute[2])
            if attribute[1] == "DW_AT_name":
                names[at] = attribute[2].split("): ")[-1].strip()
            elif attribute[1] in ("DW_AT_abstract_origin", "DW_AT_specification"):
                further[at] = int(re.search(r"<0x(\w+)>", attribute[2])[1], 16)
            elif address:
                placed[at] = int(address[1], 16)
    found = {}
    for die, address in placed.items():
        definition = declaration = further.get(die, die)
        while declaration in further:
            declaration = further[declaration]
        found[address] = (units[definition], names.get(declaration, "?"))
    return found


def layer(source):
    parts = source.split("/")
    at = next((at for at, part in enumerate(parts) if part in LAYERS), None)
    if at is None:
        return UNNAMED
    return "net/apps" if parts[at:at + 2] == ["net", "apps"] else parts[at]


def by_layer(elf):
    """layer -> {column: bytes}, and every symbol with its layer."""
    found = symbols(elf)
    sources = {at: source for at, (source, _) in variables(elf).items()}
    sources.update(sources_of_code(elf, [at for at, one in found.items() if one[1] == "text"]))
    table = collections.defaultdict(collections.Counter)
    named = []
    for at, (name, kind, size) in found.items():
        where = layer(sources.get(at, ""))
        table[where][kind] += size
        named.append((size, kind, where, name))
    sections = {line.split()[0]: int(line.split()[1])
                for line in run("size", "-A", "-d", elf).splitlines() if line.startswith(".")}
    for kind, names in SECTIONS.items():
        total = sum(sections.get(name, 0) for name in names)
        table[UNNAMED][kind] += total - sum(row[kind] for row in table.values())
    return table, named


def show_image(out):
    table, named = by_layer(f"{out}/nictest86.sym")
    print("The kernel in memory, bytes"
          f"\n{'layer':12}" + "".join(f"{column:>9}" for column in COLUMNS))
    for where in sorted(table):
        print(f"{where:12}" + "".join(f"{table[where][column]:9}" for column in COLUMNS))
    totals = [sum(row[column] for row in table.values()) for column in COLUMNS]
    print(f"{'all':12}" + "".join(f"{total:9}" for total in totals))
    print(f"text, constants and data: {sum(totals[:3])}; with bss: {sum(totals)}")
    print("\nThe largest symbols")
    for size, kind, where, name in sorted(named, reverse=True)[:LARGEST]:
        print(f"{size:9} {kind:6} {where:9} {name}")
    packed = os.path.getsize(f"{out}/obj/boot/unpack/kernel.z")
    product = os.path.getsize(f"{out}/nictest86.elf")
    print(f"\nThe product: {product}, of which {packed} the kernel packed")


# ---- run time ----

def words(box, place, count=1):
    """Of a variable: (source, name) is looked up in `place`."""
    return struct.unpack(f"<{count}I", box.memory(place, 4 * count))


def pools(place, megabytes):
    """Memory above the kernel, what is used of it, that for frames, and TCP's window."""
    with Qemu(append=f"ip={GUEST_IP}/24", mem=megabytes) as box:
        box.wait_for("ready", 20)
        (size,), (used,) = (words(box, place["kernel/arena.c", name]) for name in ("size", "used"))
        first, end = words(box, place["drivers/frame.c", "pool"], 2)
        window, = words(box, place["net/net.c", "net_tcp_wnd"])
    return size, used, end - first, window & 0xFFFF


def show_pools(out):
    place = {(source.removeprefix("./"), name): at
             for at, (source, name) in variables(f"{out}/nictest86.sym").items()}
    print("\nAt run time, bytes (QEMU, one NE2000)\n" + "".join(
        f"{head:>10}" for head in ("machine", "free", "frames", "others", "left", "window")))
    for megabytes in MEMORY_MB:
        size, used, frames, window = pools(place, megabytes)
        row = (f"{megabytes} MB", size, frames, used - frames, size - used, window)
        print("".join(f"{value:>10}" for value in row))
    print("free: above the kernel; others: lwIP's heap and cards' buffers; window: TCP's")


if __name__ == "__main__":
    show_image(sys.argv[1])
    show_pools(sys.argv[1])
