"""Bochs machines (Debian's Bochs 2.7, with its debugger) and the X display they need.

    with Bochs(cdrom="out/nictest86.iso", forward=[("tcp", 15001, 5001)]) as box:
        box.wait_for("ready", 60)

Facts used (DESIGN 9): the debugger build starts with `-rc FILE` where FILE holds `c`; there is no
display without X, so Xvfb stands in; slirp's port forwards are in a `script=` file; COM1 in
`socket-server` mode waits for its client before the machine starts; port E9h goes to stdout.

Run as a program, it boots the product: tests/emu/bochs.py [--debug] [iso|floppy], COM1 on this
terminal, or with --debug Bochs' debugger.
"""

import contextlib
import ctypes
import os
import select
import shutil
import socket
import subprocess
import sys
import tempfile
import time

from machine import Machine, MachineError, free_port, product, spawn, stop

GUEST_IP = "10.0.2.15"
MAC = "52:54:00:12:34:56"

# Instructions a second.  Real time is kept by slowing down to it, so it must be well below what
# the host can do, and near what the machines of that time did.
IPS = 20_000_000

# The drive for an image, by its size in KB.
DRIVES = {1440: "1_44", 1200: "1_2", 720: "720k", 360: "360k"}

CONFIG = """\
config_interface: textconfig
display_library: x
romimage: file=/usr/share/bochs/BIOS-bochs-latest
vgaromimage: file=/usr/share/bochs/VGABIOS-lgpl-latest
cpu: model=pentium, count=1, ips={ips}, reset_on_triple_fault=1
megs: {mem}
pci: enabled=1, chipset=i440fx{slots}
{boot}
com1: {com1}
clock: sync={sync}, time0=utc
{nic}
port_e9_hack: enabled=1
magic_break: enabled={magic}
speaker: enabled=0
private_colormap: enabled=0
log: {log}
panic: action=fatal
error: action=report
info: action=report
debug: action=ignore
"""


class Xvfb:
    """A virtual X display on a number of its own choice."""

    def __init__(self):
        if shutil.which("Xvfb") is None:
            raise MachineError("Xvfb is not installed: run `make deps`")
        number_r, number_w = os.pipe()
        self.process = spawn(["Xvfb", "-displayfd", str(number_w), "-screen", "0", "800x600x24",
                              "-nolisten", "tcp"], pass_fds=[number_w],
                             stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL)
        os.close(number_w)
        with os.fdopen(number_r) as number:
            ready, _, _ = select.select([number], [], [], 20)
            text = number.readline().strip() if ready else ""
        if not text:
            self.close()
            raise MachineError("Xvfb did not start within 20 s")
        self.name = ":" + text

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        stop(self.process)


def usable_display():
    """$DISPLAY if an X server lets us in there, else None.  (libX11 came with bochs-x.)"""
    name = os.environ.get("DISPLAY")
    if not name:
        return None
    try:
        x11 = ctypes.CDLL("libX11.so.6")
    except OSError:
        return None
    x11.XOpenDisplay.restype = ctypes.c_void_p
    x11.XCloseDisplay.argtypes = [ctypes.c_void_p]
    connection = x11.XOpenDisplay(name.encode())
    if not connection:
        return None
    x11.XCloseDisplay(connection)
    return name


def write_config(folder, cdrom=None, floppy=None, forward=(), nic=None, mem=8, sync="slowdown",
                 ips=IPS, com1="enabled=1, mode=null", magic=0, slot=None):
    """bochsrc and what it names."""
    with open(os.path.join(folder, "slirp.conf"), "w", encoding="ascii") as file:
        file.write("# slirp config\n")
        for proto, host, guest in forward:
            file.write(f"hostfwd = {proto}:127.0.0.1:{host}-{GUEST_IP}:{guest}\n")
    if cdrom:
        boot = ("ata0: enabled=1, ioaddr1=0x1f0, ioaddr2=0x3f0, irq=14\n"
                f"ata0-master: type=cdrom, path={cdrom}, status=inserted\nboot: cdrom")
    else:
        drive = DRIVES[os.path.getsize(floppy) >> 10]
        boot = f"floppya: {drive}={floppy}, status=inserted\nboot: floppy"
    nic = nic or ("type=pci" if slot else "ioaddr=0x300, irq=10")
    nic = "" if nic == "none" else (
        f"ne2k: {nic}, mac={MAC}, ethmod=slirp, script={folder}/slirp.conf")
    with open(os.path.join(folder, "bochsrc"), "w", encoding="ascii") as file:
        file.write(CONFIG.format(ips=ips, mem=mem, boot=boot, com1=com1, sync=sync, nic=nic,
                                 magic=magic, slots=f", slot{slot}=ne2k" if slot else "",
                                 log=os.path.join(folder, "log")))


class Bochs(Machine):
    """One Bochs.  Keyword arguments:

    cdrom or floppy  image            display  X display to use; None: an Xvfb of its own
    forward  [(proto, host port, guest port), ...] on loopback
    nic      words for the card, or "none"     mem      megabytes
    serial   false: there is no COM1
    slot     the card is on PCI, in this slot (1-5), instead of on ISA
    sync     slowdown: real time, as clients need it; none: idle time costs nothing
    """

    def __init__(self, cdrom=None, floppy=None, display=None, forward=(), nic=None, mem=8,
                 sync="slowdown", ips=IPS, slot=None, serial=True):
        super().__init__("bochs")
        self.xvfb = None
        try:
            if shutil.which("bochs") is None:
                raise MachineError("bochs is not installed: run `make deps`")
            if display is None:
                self.xvfb = Xvfb()
                display = self.xvfb.name
            self.display = display
            port = free_port() if serial else None
            com1 = f"enabled=1, mode=socket-server, dev=localhost:{port}" if port else "enabled=0"
            write_config(self.directory, cdrom, floppy, forward, nic, mem, sync, ips, com1,
                         slot=slot)
            with open(self.path("go"), "w", encoding="ascii") as file:
                file.write("c\n")
            self._start(port)
        except BaseException:
            self.close()
            raise

    def _start(self, port):
        output_r, output_w = os.pipe()
        with open(self.path("bochs.err"), "wb") as errors:
            self.process = spawn(["bochs", "-q", "-rc", self.path("go"), "-f",
                                  self.path("bochsrc")], stdin=subprocess.DEVNULL,
                                 stdout=output_w, stderr=errors, cwd=self.directory,
                                 env={**os.environ, "DISPLAY": self.display})
        os.close(output_w)
        self._e9 = output_r
        self.attach("e9", output_r)
        if port is not None:
            self.serial = self._connect(port)
            self.attach("serial", self.serial)

    def _connect(self, port):
        """Bochs waits for us on COM1 before it starts the machine."""
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline and self.alive():
            try:
                return socket.create_connection(("127.0.0.1", port), 1)
            except OSError:
                time.sleep(0.05)
        raise MachineError(self.complaint(f"Bochs did not start: {self._reason()}"))

    def _reason(self):
        """What Bochs itself says went wrong."""
        for name in ("log", "bochs.err"):
            try:
                with open(self.path(name), encoding="latin-1") as file:
                    lines = [line.strip() for line in file]
            except OSError:
                continue
            told = [line for line in lines if "PANIC" in line or ">>" in line or "rror" in line]
            if told:
                return " / ".join(told[-3:])
        return "no reason given"

    def complaint(self, message):
        said = self._reason() if self.process is not None and not self.alive() else None
        return super().complaint(message + (f" (Bochs: {said})" if said else ""))

    def close(self):
        super().close()
        if getattr(self, "_e9", None) is not None:
            os.close(self._e9)
            self._e9 = None
        if self.xvfb is not None:
            self.xvfb.close()
            self.xvfb = None

    def screenshot(self, path):
        """The text screen (80 x 25 at 9 x 16) as a PNG, without the window's border and buttons."""
        tool = shutil.which("import")
        if tool is None:
            raise MachineError("a screenshot needs ImageMagick's `import`")
        subprocess.run([tool, "-display", self.display, "-window", "root",
                        "-crop", "720x400+4+36", "+repage", path],
                       check=True, timeout=30, stdin=subprocess.DEVNULL)


def debug(image):
    """Bochs with its debugger on this terminal; breakpoint() in the kernel stops it."""
    display = usable_display()
    with contextlib.ExitStack() as ends:
        folder = ends.enter_context(tempfile.TemporaryDirectory(prefix="nictest86-bochs-"))
        if display is None:
            display = ends.enter_context(Xvfb()).name
        write_config(folder, magic=1, **image)
        return subprocess.run(["bochs", "-q", "-f", os.path.join(folder, "bochsrc")], cwd=folder,
                              env={**os.environ, "DISPLAY": display}, check=False).returncode


def main(arguments):
    """Boot interactively."""
    what = next((one for one in arguments if one != "--debug"), "iso")
    images = {"iso": "nictest86.iso", "floppy": "nictest86.img"}
    if what not in images:
        raise MachineError(f"usage: bochs.py [--debug] [{'|'.join(images)}]")
    port = int(os.environ.get("PORT_BASE", "15000")) + 1
    forward = [(proto, port, 5001) for proto in ("tcp", "udp")]
    image = {{"iso": "cdrom", "floppy": "floppy"}[what]: product(images[what])}
    if "--debug" in arguments:
        return debug(image)
    with Bochs(display=usable_display(), forward=forward, **image) as box:
        print(f"Bochs runs; ttcp port on loopback: {port}; COM1 is here, Ctrl-C ends.")
        shown = 0
        while box.alive():
            ready, _, _ = select.select([sys.stdin], [], [], 0.1)
            if ready:
                line = sys.stdin.readline()
                if not line:
                    return 0
                box.type(line.replace("\n", "\r"))
            text = box.text["serial"]
            sys.stdout.write(text[shown:])
            sys.stdout.flush()
            shown = len(text)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except MachineError as error:
        sys.exit(str(error))
    except KeyboardInterrupt:
        pass
