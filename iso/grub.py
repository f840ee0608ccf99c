#!/usr/bin/python3
"""grub.py INSTALLED COPY: GRUB's folder of modules, such that it starts a kernel on a 386.

GRUB 2's relocator.mod, which every kernel is started through, switches off paging extensions in
CR4 without asking whether there is such a register; a 386 and early 486s have none and stop with an
invalid opcode.  In the copy those instructions do nothing.  (There is nothing to switch off: GRUB
runs without paging.)  All other files are links to what is installed.
"""
import os
import shutil
import sys

MODULE = "relocator.mod"
# mov %cr4,%eax; and $0xffffffdf,%eax; mov %eax,%cr4
TOUCHES_CR4 = bytes.fromhex("0f20e083e0df0f22e0")
NOP = b"\x90"
PLACES = 2  # one for a kernel in 32-bit mode, one for 16-bit


class Unknown(Exception):
    """Not the GRUB that was looked at."""


def patched(module):
    places = module.count(TOUCHES_CR4)
    if places != PLACES:
        raise Unknown(f"GRUB's {MODULE} touches CR4 in {places} places, {PLACES} are known: "
                      "see iso/grub.py before a 386 sees this image")
    return module.replace(TOUCHES_CR4, NOP * len(TOUCHES_CR4))


def copy(installed, target):
    with open(os.path.join(installed, MODULE), "rb") as file:
        module = patched(file.read())
    shutil.rmtree(target, ignore_errors=True)
    os.makedirs(target)
    for name in os.listdir(installed):
        if name != MODULE:
            os.symlink(os.path.join(os.path.abspath(installed), name), os.path.join(target, name))
    with open(os.path.join(target, MODULE), "wb") as file:
        file.write(module)


def main(installed, target):
    try:
        copy(installed, target)
    except (Unknown, OSError) as error:
        sys.exit(f"grub.py: {error}")


if __name__ == "__main__":
    main(*sys.argv[1:])
