"""A real Spark for tests: a standalone master and two workers, each a process of its own, gone afterwards.

They listen on 127.0.0.1 only, at ports that are free, and work in a folder of their own. Every one of them is told to
end when the process ends that started it. Executors are children of the workers: `executors()` are their ids.
"""

from __future__ import annotations

import atexit
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import warnings
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from time import monotonic, sleep
from typing import Any

LONGEST = 60  # seconds that anything may take
WORKERS = 2
HERE = "127.0.0.1"
# Java that compiles little, and does not look through its own classes: tests are short, and cores are few.
BRIEF = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote"
SETTINGS = {
    "spark.app.name": "tests",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.host": HERE,
    "spark.driver.bindAddress": HERE,
    "spark.executor.cores": "1",
    "spark.executor.memory": "1g",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.adaptive.enabled": "false",  # to plan each stage anew takes longer than to run it
    "spark.locality.wait": "0s",
    "spark.sql.codegen.wholeStage": "false",  # to write and compile Java takes longer than to run it once
    "spark.sql.session.timeZone": "Asia/Tokyo",  # nothing may depend on the zone of a session
    "spark.sql.ansi.enabled": "false",  # nor on this
    "spark.sql.catalogImplementation": "in-memory",
    "spark.plugins": "org.apache.spark.sql.connect.SparkConnectPlugin",  # the driver serves Connect as well
    "spark.task.maxFailures": "8",  # workers are killed here
    "spark.deploy.maxExecutorRetries": "-1",
    "spark.speculation": "true",  # slow tasks are run twice
    "spark.speculation.quantile": "0.5",
    "spark.speculation.multiplier": "1.5",
    "spark.speculation.minTaskRuntime": "1s",
    "spark.log.level": "ERROR",
}


def missing() -> str | None:
    """Why there can be no Spark here, if so."""
    if find_spec("pyspark") is None:
        return "pyspark is not installed: pip install 'discreet[spark]'"
    from discreet.engines.spark.session import check_java
    from discreet.errors import EngineError

    try:
        check_java()
    except EngineError as error:
        return str(error)
    return None


def home() -> Path:
    """The folder of Spark."""
    found = find_spec("pyspark")
    if found is None or found.origin is None:
        raise RuntimeError("install the extra `test`: its Spark is missing")
    return Path(found.origin).parent


def free_port() -> int:
    with socket.socket() as free:
        free.bind((HERE, 0))
        port: int = free.getsockname()[1]
        return port


@dataclass
class Cluster:
    """A master and workers; `workers` may be killed, and `mend` starts those anew that are gone."""

    memory: str = "1g"  # of one executor
    java: str = BRIEF  # options of every Java
    cores: int = 1  # of one worker
    settings: dict[str, str] = field(default_factory=dict)
    folder: Path = field(default_factory=lambda: Path(tempfile.mkdtemp(prefix="spark-for-tests-")))
    port: int = 0
    connect_port: int = 0
    master: subprocess.Popen[bytes] | None = None
    workers: list[subprocess.Popen[bytes]] = field(default_factory=list)
    made: Any = None
    clients: list[Any] = field(default_factory=list)

    def start(self) -> Cluster:
        """Start all of it, and wait until every worker is known to the master."""
        atexit.register(self.stop)
        self.port = free_port()
        at = ("--host", HERE, "--webui-port", "0")
        self.master = self._run("master", "deploy.master.Master", *at, "--port", str(self.port))
        self._wait("master", r"Starting Spark master at", 1)
        self.mend()
        return self

    @property
    def url(self) -> str:
        return f"spark://{HERE}:{self.port}"

    def mend(self) -> None:
        """Start workers until there are two of them."""
        self.workers = [each for each in self.workers if each.poll() is None]
        known = self._seen("master", "Registering worker")
        wanted = WORKERS - len(self.workers)
        for i in range(wanted):
            place = self.folder / f"work-{known + i}"
            sizes = ("--cores", str(self.cores), "--memory", self.memory, "--work-dir", str(place))
            name = f"worker-{known + i}"
            at = ("--host", HERE, "--webui-port", "0")
            self.workers.append(self._run(name, "deploy.worker.Worker", *at, *sizes, self.url))
        self._wait("master", "Registering worker", known + wanted)

    def session(self, **more: str) -> Any:
        """The classic session of this process, in which the workers do the work; also served by Connect."""
        from pyspark.sql import SparkSession

        if self.made is not None:
            return self.made
        os.environ["PYSPARK_PYTHON"] = sys.executable
        os.environ["SPARK_LOCAL_IP"] = HERE
        os.environ["SPARK_LOCAL_DIRS"] = str(self.folder / "local")
        self.connect_port = free_port()
        builder = SparkSession.builder.master(self.url)
        own = {"spark.executor.memory": self.memory, "spark.connect.grpc.binding.port": str(self.connect_port)}
        own["spark.connect.grpc.binding.address"] = HERE
        (self.folder / "events").mkdir(exist_ok=True)
        own |= {"spark.eventLog.enabled": "true", "spark.eventLog.dir": f"file://{self.folder}/events"}
        own["spark.eventLog.compress"] = "false"
        own |= {f"spark.{role}.extraJavaOptions": self.java for role in ("driver", "executor")}
        for name, value in {**SETTINGS, **own, **self.settings, **more}.items():
            builder = builder.config(name, value)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of versions of pandas, and of Java
            self.made = builder.getOrCreate()
        return self.made

    def connect(self) -> Any:
        """A session of Connect with the same driver."""
        from pyspark.sql.connect.session import SparkSession

        self.session()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.clients.append(SparkSession.builder.remote(f"sc://{HERE}:{self.connect_port}").create())
        return self.clients[-1]

    def executors(self) -> list[int]:
        """The process ids of what does the work."""
        return [child for worker in self.workers for child in _children(worker.pid)]

    def kill(self, *processes: int) -> None:
        """Kill processes as nothing could be prepared for."""
        for process in processes:
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)

    def kill_worker(self, which: int) -> None:
        """Kill a worker with its executors, so that none goes on by itself."""
        worker = self.workers[which]
        self.kill(*_children(worker.pid), worker.pid)
        worker.wait(LONGEST)

    def stop(self) -> None:
        atexit.unregister(self.stop)
        for each in (*self.clients, *([self.made] if self.made else ())):  # a client without its server waits for it
            with suppress(Exception):
                each.stop()
        self.made, self.clients = None, []
        for each in (*self.workers, *([self.master] if self.master else ())):
            started = _children(each.pid)
            each.kill()
            each.wait(LONGEST)
            self.kill(*started)
        shutil.rmtree(self.folder, ignore_errors=True)

    def _run(self, name: str, program: str, *arguments: str) -> subprocess.Popen[bytes]:
        environment = {
            **os.environ,
            "SPARK_HOME": str(home()),
            "SPARK_LOCAL_IP": HERE,
            "SPARK_LOCAL_DIRS": str(self.folder / "local"),
            "SPARK_NO_DAEMONIZE": "1",
            "SPARK_DAEMON_MEMORY": "256m",
            "SPARK_DAEMON_JAVA_OPTS": self.java,
            "PYSPARK_PYTHON": sys.executable,
        }
        before = ["setpriv", "--pdeathsig", "KILL"] if shutil.which("setpriv") else []
        command = [*before, str(home() / "bin" / "spark-class"), f"org.apache.spark.{program}", *arguments]
        with (self.folder / f"{name}.log").open("wb") as log:
            return subprocess.Popen(command, stdout=log, stderr=log, env=environment, cwd=self.folder)

    def _seen(self, name: str, pattern: str) -> int:
        return len(re.findall(pattern, (self.folder / f"{name}.log").read_text(encoding="utf-8", errors="replace")))

    def _wait(self, name: str, pattern: str, times: int) -> None:
        end = monotonic() + LONGEST
        while self._seen(name, pattern) < times:
            ended = [each for each in (self.master, *self.workers) if each is not None and each.poll() is not None]
            if monotonic() > end or ended:
                raise RuntimeError((self.folder / f"{name}.log").read_text(encoding="utf-8")[-2000:])
            sleep(0.05)


def _children(process: int) -> list[int]:
    """What a process started, in any of its threads."""
    found = []
    for path in Path(f"/proc/{process}/task").glob("*/children"):
        with suppress(OSError):
            found += [int(each) for each in path.read_text().split()]
    return found
