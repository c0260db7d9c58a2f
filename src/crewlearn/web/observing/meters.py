"""Counters of this process: requests, how long they take, and imports, in the form that Prometheus collects.

They are kept only where prometheus-client is installed, which comes with the extra `server`. Where several processes
serve one socket, each writes its counters to files of a folder that they share, and any of them answers for all.
"""

import importlib.util
import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING

from crewlearn.advisor.files.recording.guard import HeldOutput
from crewlearn.advisor.ledger.errors import StoreUnavailable
from crewlearn.problem.errors import InvalidInput

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry

SHARED = "PROMETHEUS_MULTIPROC_DIR"
"""The variable that names the folder; prometheus-client reads it when it is imported."""

BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
"""Seconds."""

_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


class Meters:
    """The counters."""

    def __init__(self) -> None:
        from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

        self.registry = CollectorRegistry()
        self.requests = Counter(
            "crewlearn_requests", "Requests answered.", ("method", "route", "status"), registry=self.registry
        )
        self.seconds = Histogram(
            "crewlearn_request_seconds",
            "Seconds from a request's head to the end of its answer.",
            ("method", "route"),
            buckets=BUCKETS,
            registry=self.registry,
        )
        self.under_way = Gauge(
            "crewlearn_requests_under_way",
            "Requests being answered.",
            multiprocess_mode="livesum",
            registry=self.registry,
        )
        self.imports = Counter(
            "crewlearn_imports",
            "Imports of files: recorded, held for confirmation, refused, or failed because of the store or a bug.",
            ("outcome",),
            registry=self.registry,
        )

    def count_request(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count an answered request; status 0 is a client that was gone before."""
        method = method if method in _METHODS else "other"
        self.requests.labels(method, route, str(status)).inc()
        self.seconds.labels(method, route).observe(seconds)

    def collected(self) -> "CollectorRegistry":
        """Return a registry with the counters of all processes that share the socket."""
        from prometheus_client import CollectorRegistry, ProcessCollector
        from prometheus_client.multiprocess import MultiProcessCollector

        registry = CollectorRegistry()
        if os.environ.get(SHARED):
            MultiProcessCollector(registry)  # type: ignore[no-untyped-call]  # the library leaves it out
        else:
            ProcessCollector(registry=registry)
            registry.register(self.registry)
        return registry


@cache
def meters() -> Meters | None:
    """Return the counters of this process; None where prometheus-client is not installed."""
    return None if importlib.util.find_spec("prometheus_client") is None else Meters()


@contextmanager
def counting_import() -> Iterator[None]:
    """Count an import by how it ends."""
    outcome = "failed"
    try:
        yield
        outcome = "recorded"
    except HeldOutput:
        outcome = "held"
        raise
    except StoreUnavailable:
        raise
    except InvalidInput:
        outcome = "refused"
        raise
    finally:
        if (kept := meters()) is not None:
            kept.imports.labels(outcome).inc()
