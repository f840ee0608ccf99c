#!/usr/bin/python3
"""dist.py ZIP NAME=FILE...: what a user takes home, with SHA256SUMS of everything in it.

The same files give the same archive to the bit: names in order, no owners, and one date for all,
that of SOURCE_DATE_EPOCH.
"""
import hashlib
import os
import sys
import time
import zipfile

FIRST_DATE = 315532800   # 1 January 1980: zip knows no earlier one
PLAIN_FILE = 0o100644 << 16
UNIX = 3


def date(environment):
    epoch = int(environment["SOURCE_DATE_EPOCH"])
    if epoch < FIRST_DATE:
        sys.exit(f"dist.py: SOURCE_DATE_EPOCH={epoch} is before 1980, which a zip cannot say")
    return time.gmtime(epoch)[:6]


def add(archive, name, contents, when):
    entry = zipfile.ZipInfo(name, when)
    entry.create_system = UNIX
    entry.external_attr = PLAIN_FILE
    entry.compress_type = zipfile.ZIP_DEFLATED
    archive.writestr(entry, contents, compresslevel=9)


def main(target, *pairs):
    when = date(os.environ)
    top = os.path.splitext(os.path.basename(target))[0]
    files = {}
    for pair in pairs:
        name, path = pair.split("=", 1)
        with open(path, "rb") as file:
            files[name] = file.read()
    sums = "".join(f"{hashlib.sha256(files[name]).hexdigest()}  {name}\n" for name in sorted(files))
    files["SHA256SUMS"] = sums.encode()
    with zipfile.ZipFile(target + ".part", "w") as archive:
        for name in sorted(files):
            add(archive, f"{top}/{name}", files[name], when)
    os.replace(target + ".part", target)


if __name__ == "__main__":
    main(*sys.argv[1:])
