"""DOSBox: a DOS prompt to start the kernel from.

    with DosBox({"NICTEST.COM": path, ...}, ["nictest irq=poll > out.txt"]) as box:
        box.wait_for("boot")            # records come by COM1, a null modem to us
        box.file("OUT.TXT")

DOSBox has no network card that we know, and its DOS has HIMEM but no EMM386.
"""

import os
import shutil
import socket
import subprocess

from machine import Machine, MachineError, spawn

CONFIG = """\
[sdl]
output=surface
[dosbox]
memsize={mem}
[cpu]
core=normal
cputype=386
cycles=max
[mixer]
nosound=true
[serial]
serial1=nullmodem server:127.0.0.1 port:{port} transparent:1
serial2=disabled
[dos]
xms={xms}
ems=false
umb=false
[autoexec]
mount c {folder}
c:
{commands}
exit
"""


class DosBox(Machine):
    """One DOSBox: `files` (name -> path) on drive C:, then `commands`, then it ends."""

    record_stream = "serial"

    def __init__(self, files, commands, mem=8, xms=True):
        super().__init__("dosbox")
        try:
            if shutil.which("dosbox") is None:
                raise MachineError("dosbox is not installed: run `make deps`")
            folder = self.path("c")
            os.mkdir(folder)
            for name, path in files.items():
                shutil.copy(path, os.path.join(folder, name))
            with socket.create_server(("127.0.0.1", 0)) as listener:
                listener.settimeout(20)
                with open(self.path("conf"), "w", encoding="ascii") as file:
                    file.write(CONFIG.format(mem=mem, port=listener.getsockname()[1],
                                             xms="true" if xms else "false", folder=folder,
                                             commands="\n".join(commands)))
                self._start()
                self.serial, _ = listener.accept()
            self.attach("serial", self.serial)
        except BaseException:
            self.close()
            raise

    def _start(self):
        headless = {"SDL_VIDEODRIVER": "dummy", "SDL_AUDIODRIVER": "dummy"}
        with open(self.path("dosbox.err"), "wb") as errors:
            self.process = spawn(["dosbox", "-conf", self.path("conf"), "-noconsole"],
                                 stdin=subprocess.DEVNULL, stdout=errors, stderr=errors,
                                 env={**os.environ, **headless, "HOME": self.directory})

    def file(self, name):
        """Text of a file on C: that a command has written."""
        with open(os.path.join(self.path("c"), name), encoding="cp437", newline="") as file:
            return file.read()
