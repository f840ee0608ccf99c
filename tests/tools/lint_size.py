#!/usr/bin/python3
"""lint_size.py KERNEL PRODUCT: text and data together stay under 300 KB in the machine, and the
product, which holds the kernel packed, under 16 tracks of a floppy (with the two of its loader that
makes the 18 of issue 7)."""
import os
import subprocess
import sys

RESIDENT, PRODUCT = 300 * 1024, 16 * 18 * 512


def text_and_data(elf):
    out = subprocess.run(["size", elf], check=True, stdout=subprocess.PIPE, text=True).stdout
    text, data = out.splitlines()[1].split()[:2]
    return int(text) + int(data)


def findings(elf, budget=RESIDENT):
    total = text_and_data(elf)
    return [] if total < budget else [f"{elf}: text + data is {total}, must be under {budget}"]


def findings_on_disk(product, budget=PRODUCT):
    size = os.path.getsize(product)
    return [] if size <= budget else [f"{product}: {size} bytes, at most {budget} are read in time"]


if __name__ == "__main__":
    report = findings(sys.argv[1]) + findings_on_disk(sys.argv[2])
    print("\n".join(report))
    sys.exit(1 if report else 0)
