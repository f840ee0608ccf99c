#!/usr/bin/python3
"""lint_hosts.py [ROOT]: no package registry's or mirror's host name in any file of ours.

A machine's own set-up says where packages come from; a name in a file would be somebody's network.
Looked for are the usual public names and whatever this machine's apt is set up for.
"""
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from source_files import own_files  # noqa: E402

PUBLIC = (r"\b(deb|security|snapshot|archive|registry|httpredir|ftp[a-z.0-9]*|[a-z.]*mirrors?)"
          r"\.[a-z0-9.-]*(debian|ubuntu|npmjs|yarnpkg|pypi|pythonhosted|kernel)\.[a-z]+\b")


def machine_hosts():
    """Hosts that apt here downloads from."""
    try:
        out = subprocess.run(["apt-get", "indextargets", "--format", "$(SITE)"],
                             stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
    except FileNotFoundError:
        return set()
    hosts = (re.sub(r"^[a-z+]+://", "", site).split("/")[0] for site in out.split())
    return {host for host in hosts if "." in host}


def findings(root):
    pattern = re.compile("|".join([PUBLIC, *map(re.escape, sorted(machine_hosts()))]).encode())
    found = []
    for path in own_files(root):
        with open(f"{root}/{path}", "rb") as file:
            for number, line in enumerate(file, 1):
                if pattern.search(line):
                    found.append(f"{path}:{number}: names a package registry's host")
    return found


if __name__ == "__main__":
    report = findings(sys.argv[1] if len(sys.argv) > 1 else ".")
    print("\n".join(report))
    sys.exit(1 if report else 0)
