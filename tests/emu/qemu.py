"""QEMU machines.

    with Qemu(append="ip=dhcp", forward={"tcp": [5001]}) as box:
        box.wait_for("ready")
        port = box.port("tcp", 5001)

Run as a program, it boots the product interactively, COM1 on this terminal:
    tests/emu/qemu.py [ne2k_isa|ne2k_pci|rtl8139|e1000] [--debug] [BOOT OPTIONS]
"""

import json
import os
import select
import shutil
import socket
import subprocess
import sys

from machine import Machine, MachineError, free_port, product, spawn

PROGRAM = "qemu-system-i386"
GUEST_IP = "10.0.2.15"   # what the built-in DHCP server (slirp) gives
HOST_IP = "10.0.2.2"
MAC = "52:54:00:12:34:56"
CARDS = ("ne2k_isa", "ne2k_pci", "rtl8139", "e1000")
KINDS = {"tcp": socket.SOCK_STREAM, "udp": socket.SOCK_DGRAM}
ICOUNT = "shift=6,sleep=off"  # 64 ns an instruction; idle time costs nothing (DESIGN 6)
GUEST_CLOCK = "base=2020-01-01T00:00:00,clock=vm"  # -rtc: its interrupts in the guest's time, too


def nic_device(model, netdev="n0", **options):
    """The -device words of a card; the ISA one sits where the first probe looks."""
    words = [model, f"netdev={netdev}"]
    options = {"mac": MAC, **options}
    if model == "ne2k_isa":
        options = {"iobase": "0x300", "irq": 10, **options}
    words += [f"{key}={value}" for key, value in options.items()]
    return ",".join(words)


def dgram_netdev(netdev, sockets):
    """The -netdev words of a wire to a raw peer (RawPeer.sockets)."""
    ours, its = sockets
    return (f"dgram,id={netdev},local.type=unix,local.path={its},"
            f"remote.type=unix,remote.path={ours}")


class Qemu(Machine):
    """One QEMU.  Keyword arguments:

    append   boot options            kernel/cdrom/floppy/disk  what to boot (default: the ELF)
    nic      card model or None      nic_options          further properties of the card
    cpu, mem, board                  icount               True, or the -icount words
    forward  {"tcp": [5001], ...}: guest ports to forward, "tcp+udp" both at one; see port();
             a pair (host, guest) says where from
    dgram    (our path, its path) of unix datagram sockets to a raw peer, instead of slirp
    dhcp     False: slirp answers no DHCP, the guest is alone with its static address
    serial   False: no UART at all   pcap                 file for everything on the card's wire
    tftp     folder: the card's ROM (iPXE) boots `bootfile` from there
    extra    further words
    """

    def __init__(self, append="", kernel=None, cdrom=None, floppy=None, disk=None, nic="ne2k_isa",
                 nic_options=None, board=None, cpu="486", mem=4, icount=None, forward=None,
                 dgram=None, serial=True, pcap=None, exit_device=True, tftp=None,
                 bootfile="nictest86.elf", extra=()):
        super().__init__("qemu")
        try:
            self._ports = {}
            self._monitor = None
            if board is None:
                board = "isapc" if nic in (None, "ne2k_isa") else "pc"
            argv = [PROGRAM, "-M", board, "-cpu", cpu, "-m", str(mem), "-nodefaults",
                    "-vga", "std", "-display", "none", "-no-user-config"]
            argv += self._boot_words(append, kernel, cdrom, floppy, disk, tftp)
            argv += self._net_words(nic, nic_options or {}, forward or {}, dgram, pcap,
                                    f",tftp={tftp},bootfile=/{bootfile}" if tftp else "")
            if icount:
                argv += ["-icount", ICOUNT if icount is True else icount, "-rtc", GUEST_CLOCK]
            if exit_device:
                argv += ["-device", "isa-debug-exit,iobase=0xf4"]
            self._start(argv + list(extra), serial)
        except BaseException:
            self.close()
            raise

    @staticmethod
    def _boot_words(append, kernel, cdrom, floppy, disk, tftp):
        if tftp:
            return ["-boot", "n"]
        if disk:
            return ["-drive", f"if=ide,format=raw,snapshot=on,file={disk}", "-boot", "c"]
        if cdrom:
            return ["-cdrom", cdrom, "-boot", "d"]
        if floppy:
            return ["-drive", f"if=floppy,format=raw,readonly=on,file={floppy}", "-boot", "a"]
        return ["-kernel", kernel or product("nictest86.elf"), "-append", append]

    def _net_words(self, nic, nic_options, forward, dgram, pcap, tftp):
        if nic is None:
            return ["-nic", "none"]
        if dgram:
            netdev = dgram_netdev("n0", dgram)
        else:
            netdev = "user,id=n0" + tftp
            for proto, ports in forward.items():
                for guest in ports:
                    host, guest = guest if isinstance(guest, tuple) else (
                        free_port(*(KINDS[one] for one in proto.split("+"))), guest)
                    for one in proto.split("+"):
                        self._ports[one, guest] = host
                        netdev += f",hostfwd={one}:127.0.0.1:{host}-{GUEST_IP}:{guest}"
        words = ["-netdev", netdev, "-device", nic_device(nic, **nic_options)]
        if pcap:
            words += ["-object", f"filter-dump,id=dump,netdev=n0,file={pcap}"]
        return words

    def _start(self, argv, serial):
        listeners = {}
        for name in ("e9", "serial", "qmp"):
            if name == "serial" and not serial:
                continue
            listener = socket.socket(socket.AF_UNIX)
            listener.bind(self.path(name))
            listener.listen(1)
            listener.settimeout(10)
            listeners[name] = listener
            argv += ["-chardev", f"socket,id={name},path={self.path(name)}"]
        argv += ["-device", "isa-debugcon,iobase=0xe9,chardev=e9",
                 "-mon", "chardev=qmp,mode=control",
                 "-serial", "chardev:serial" if serial else "none"]
        self.argv = argv
        with open(self.path("qemu.err"), "wb") as errors:
            self.process = spawn(argv, stdin=subprocess.DEVNULL, stdout=errors, stderr=errors)
        for name, listener in listeners.items():
            connection = self._accept(listener)
            if name == "qmp":
                self._monitor = connection
                continue
            if name == "serial":
                self.serial = connection
            else:
                self._e9 = connection
            self.attach(name, connection)
        self._monitor_file = self._monitor.makefile("r")
        if not self._monitor_file.readline():  # the greeting
            raise self._start_failure()
        self.monitor("qmp_capabilities")

    def _accept(self, listener):
        with listener:
            for _ in range(100):
                ready, _, _ = select.select([listener], [], [], 0.1)
                if ready:
                    connection, _ = listener.accept()
                    return connection
                if not self.alive():
                    break
        raise self._start_failure()

    def _start_failure(self):
        with open(self.path("qemu.err"), encoding="utf-8", errors="replace") as errors:
            return MachineError(f"QEMU did not start: {errors.read().strip()}")

    def close(self):
        super().close()
        for one in ("_monitor_file", "_monitor", "_e9"):
            connection = getattr(self, one, None)
            if connection is not None:
                connection.close()

    def port(self, proto, guest):
        """The loopback port that leads to `guest`."""
        return self._ports[proto, guest]

    # ---- monitor ----

    def monitor(self, command, **arguments):
        """One QMP command; its answer."""
        self._monitor.settimeout(10)
        self._monitor.sendall(json.dumps({"execute": command, "arguments": arguments}).encode())
        while True:
            answer = json.loads(self._monitor_file.readline())
            if "return" in answer:
                return answer["return"]
            if "error" in answer:
                raise MachineError(f"{command}: {answer['error']}")

    def human_monitor(self, line):
        """One line of the monitor for people; what it says."""
        return self.monitor("human-monitor-command", **{"command-line": line})

    def keys(self, text):
        """Type on the PC's keyboard (small letters, digits, blank, '.', '-', '=', newline)."""
        names = {" ": "spc", ".": "dot", "-": "minus", "=": "equal", "\n": "ret", "/": "slash"}
        for char in text:
            self.key(names.get(char, char))

    def key(self, *together):
        self.monitor("send-key", keys=[{"type": "qcode", "data": key} for key in together],
                     **{"hold-time": 20})

    def memory(self, address, size):
        """Guest memory."""
        file = self.path("memory")
        self.monitor("pmemsave", val=address, size=size, filename=file)
        with open(file, "rb") as dump:
            return dump.read()

    def screen(self):
        """The 25 lines of the text screen."""
        cells = self.memory(0xb8000, 80 * 25 * 2)[::2].decode("cp437")
        return [cells[row * 80:row * 80 + 80].rstrip() for row in range(25)]


def main(arguments):
    """Boot interactively."""
    debug = "--debug" in arguments
    options = [word for word in arguments if word != "--debug"]
    nic = options.pop(0) if options and options[0] in CARDS else CARDS[0]
    if shutil.which(PROGRAM) is None:
        sys.exit(f"{PROGRAM} is not installed: run `make deps`")
    window = ["-display", "none"] if not os.environ.get("DISPLAY") else []
    argv = [PROGRAM, "-M", "isapc" if nic == "ne2k_isa" else "pc", "-cpu", "486", "-m", "8",
            "-nodefaults", "-vga", "std", "-serial", "mon:stdio",
            "-netdev", "user,id=n0,hostfwd=tcp:127.0.0.1:15001-:5001,"
                       "hostfwd=udp:127.0.0.1:15001-:5001",
            "-device", nic_device(nic), "-device", "isa-debug-exit,iobase=0xf4",
            "-kernel", product("nictest86.elf"), "-append", " ".join(options)] + window
    if debug:
        argv += ["-s", "-S"]
        print("paused; in another terminal:\n"
              "    gdb -nx -x .gdbinit")
    os.execvp(PROGRAM, argv)


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except MachineError as error:
        sys.exit(str(error))
