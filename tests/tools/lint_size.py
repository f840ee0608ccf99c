#!/usr/bin/python3
"""lint_size.py KERNEL PRODUCT: text and data together stay under 300 KB in the machine, and under
200 KB in the product, which holds the kernel packed."""
import subprocess
import sys

RESIDENT, PRODUCT = 300 * 1024, 200 * 1024


def text_and_data(elf):
    out = subprocess.run(["size", elf], check=True, stdout=subprocess.PIPE, text=True).stdout
    text, data = out.splitlines()[1].split()[:2]
    return int(text) + int(data)


def findings(elf, budget=RESIDENT):
    total = text_and_data(elf)
    return [] if total < budget else [f"{elf}: text + data is {total}, must be under {budget}"]


if __name__ == "__main__":
    report = findings(sys.argv[1]) + findings(sys.argv[2], PRODUCT)
    print("\n".join(report))
    sys.exit(1 if report else 0)
