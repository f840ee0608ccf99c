"""A running emulator: what QEMU and Bochs launchers have in common.

Output of the box arrives as named streams ("e9", "serial"), read by one thread; every complete
line is kept, and lines that begin with '@' are parsed as records.  Each wait has a time limit.
Every process is started through spawn(), ended by its own pid, and dies with this program even if
that is killed outright.
"""

import ctypes
import os
import re
import selectors
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time

import records

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
OUT = os.path.abspath(os.environ.get("OUT") or os.path.join(ROOT, "out"))

PR_SET_PDEATHSIG = 1


class MachineError(Exception):
    """The machine did not do what was waited for; the message holds its last output."""


def version():
    """The one that the Makefile gives to kernel and loader."""
    with open(os.path.join(ROOT, "Makefile"), encoding="utf-8") as file:
        return next(line.split()[2] for line in file if line.startswith("VERSION :="))


def product(name, out=OUT):
    """Path of a product of `make`; a clear error if it has not been built."""
    path = os.path.join(out, name)
    if not os.path.exists(path):
        raise MachineError(f"{os.path.relpath(path, ROOT)} is not there: run `make` first")
    return path


def plain(text):
    """Terminal output without what only a terminal understands (GRUB draws its menu on COM1)."""
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b.", "\n", text.replace("\r", ""))
    text = re.sub(r"[^\n\x20-\x7e]", "", text)
    return re.sub(r"[ \n]*\n", "\n", text)


def free_port(kind=socket.SOCK_STREAM, *further):
    """A loopback port nobody uses just now, for this kind of socket and any further ones."""
    while True:
        with socket.socket(socket.AF_INET, kind) as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        if all(_is_free(port, one) for one in further):
            return port


def _is_free(port, kind):
    with socket.socket(socket.AF_INET, kind) as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def _die_with_parent():
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def spawn(argv, **options):
    """A child in its own process group that does not outlive us.  Call from the main thread."""
    return subprocess.Popen(argv, start_new_session=True, preexec_fn=_die_with_parent, **options)


def stop(process, patience=3):
    """End a child of ours: politely, then not."""
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(patience)
        except subprocess.TimeoutExpired:
            process.kill()
    return process.wait()


class Reader:
    """One thread that collects what comes in on several sockets or pipes."""

    def __init__(self, notify):
        self._selector = selectors.DefaultSelector()
        self._notify = notify
        self._wake_r, self._wake_w = os.pipe()
        self._selector.register(self._wake_r, selectors.EVENT_READ, None)
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def add(self, name, source):
        fd = source if isinstance(source, int) else source.fileno()
        self._selector.register(fd, selectors.EVENT_READ, name)
        os.write(self._wake_w, b"x")

    def close(self):
        os.write(self._wake_w, b"q")
        self._thread.join(5)
        os.close(self._wake_r)
        os.close(self._wake_w)
        self._selector.close()

    def _run(self):
        while True:
            for key, _ in self._selector.select():
                try:
                    data = os.read(key.fd, 65536)
                except OSError:
                    data = b""
                if key.data is None:
                    if b"q" in data:
                        return
                    continue
                if not data:
                    self._selector.unregister(key.fd)
                self._notify(key.data, data)


class Machine:
    """Base class: streams, records, shell.  A launcher sets self.process and self.serial."""

    record_stream = "e9"

    def __init__(self, label):
        self.label = label
        self.directory = tempfile.mkdtemp(prefix=f"nictest86-{label}-")
        self.process = None
        self.serial = None      # socket to COM1, or None
        self.records = []       # parsed, from record_stream
        self.serial_records = []
        self.bad_records = []   # texts of what is wrong with them
        self.text = {}          # stream -> all text so far
        self.ended = set()      # streams that came to their end
        self._partial = {}
        self._changed = threading.Condition()
        self._reader = Reader(self._received)
        self.started = time.monotonic()

    # ---- life ----

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        """End the emulator and take all traces of it away.  May be called twice."""
        if self._reader is None:
            return
        if self.process is not None:
            stop(self.process)
        self._reader.close()
        self._reader = None
        if self.serial is not None:
            self.serial.close()
        shutil.rmtree(self.directory, ignore_errors=True)

    def path(self, name):
        return os.path.join(self.directory, name)

    def alive(self):
        return self.process.poll() is None

    def wait_exit(self, timeout=10):
        """Status of the emulator once it has ended by itself, all its output read."""
        try:
            status = self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            raise MachineError(self.complaint(f"still running after {timeout} s")) from None
        with self._changed:
            self._changed.wait_for(lambda: self.record_stream in self.ended, 3)
        return status

    # ---- streams ----

    def attach(self, stream, source):
        self.text[stream] = ""
        self._partial[stream] = ""
        self._reader.add(stream, source)

    def _received(self, stream, data):
        with self._changed:
            if not data:
                self.ended.add(stream)
            text = data.decode("latin-1")
            self.text[stream] += text
            *lines, self._partial[stream] = (self._partial[stream] + text).split("\n")
            for line in lines:
                self._line(stream, line.rstrip("\r"))
            self._changed.notify_all()

    def _line(self, stream, line):
        if not line.startswith("@"):
            return
        try:
            record = records.parse(line)
            records.check(record)
        except records.RecordError as error:
            self.bad_records.append(f"{stream}: {error}")
            return
        if stream == self.record_stream:
            self.records.append(record)
        else:
            self.serial_records.append(record)

    def check_records(self):
        """Every record so far kept the contract."""
        if self.bad_records:
            raise records.RecordError("\n".join(self.bad_records))
        records.check_order(self.records)

    def last_lines(self, stream="serial", count=12):
        return plain(self.text.get(stream, "")).rstrip("\n").split("\n")[-count:]

    def complaint(self, message):
        """`message`, with the last lines of all streams below."""
        parts = [f"{self.label}: {message}"]
        for stream in self.text:
            parts.append(f"--- last of {stream} ---")
            parts += ["    " + line for line in self.last_lines(stream)]
        return "\n".join(parts)

    # ---- waiting ----

    def mark(self):
        """A place in the list of records, for `since`."""
        with self._changed:
            return len(self.records)

    def _wait(self, find, what, timeout):
        deadline = time.monotonic() + timeout
        with self._changed:
            while True:
                found = find()
                if found is not None:
                    return found
                if not self.alive() and self.record_stream in self.ended:
                    raise MachineError(self.complaint(
                        f"the emulator ended ({self.process.poll()}) before {what}"))
                left = deadline - time.monotonic()
                if left <= 0:
                    raise MachineError(self.complaint(f"no {what} within {timeout} s"))
                self._changed.wait(min(left, 0.2))

    def wait_for(self, ev, timeout=10, since=0, **fields):
        """The first record `ev` (at or after mark `since`) whose keys have these values."""
        def find():
            for record in self.records[since:]:
                if record["ev"] == ev and all(record.get(k) == v for k, v in fields.items()):
                    return record
            return None
        return self._wait(find, f"record {ev} {fields or ''}", timeout)

    def wait_count(self, ev, count, timeout=10, since=0, **fields):
        """The first `count` such records."""
        def find():
            got = [r for r in self.records[since:]
                   if r["ev"] == ev and all(r.get(k) == v for k, v in fields.items())]
            return got[:count] if len(got) >= count else None
        return self._wait(find, f"{count} records {ev} {fields or ''}", timeout)

    def wait_text(self, text, timeout=10, stream="serial", since=0):
        """Wait until `text` has appeared; the offset behind it."""
        def find():
            at = self.text[stream].find(text, since)
            return at + len(text) if at >= 0 else None
        return self._wait(find, f"text {text!r} on {stream}", timeout)

    def all(self, ev, since=0, **fields):
        with self._changed:
            return [r for r in self.records[since:]
                    if r["ev"] == ev and all(r.get(k) == v for k, v in fields.items())]

    # ---- shell ----

    def type(self, text):
        """Keys on COM1."""
        self.serial.sendall(text.encode("latin-1"))

    def command(self, line, timeout=20):
        """Type a command on COM1, wait for its `done`; that record, and the serial text since."""
        since, offset = self.mark(), len(self.text["serial"])
        self.type(line + "\r")
        done = self.wait_for("done", timeout, since)
        # The record overtakes the serial line: wait until COM1 has told it all, too.
        self.wait_text("\n", timeout, since=self.wait_text('"ev":"done"', timeout, since=offset))
        return done, self.text["serial"][offset:]

    def counters(self, nic=0, timeout=20):
        """The `counters` record of a card, asked for now."""
        since = self.mark()
        self.command("counters", timeout)
        return self.wait_for("counters", timeout, since, nic=nic)
