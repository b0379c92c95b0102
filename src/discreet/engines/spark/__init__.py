"""Spark, a session of one's own or one that is started here: for releases whose tables lie in a lake."""

from __future__ import annotations

from discreet.engines.spark.engine import Spark
from discreet.engines.spark.session import beside, started

__all__ = ["Spark", "beside", "started"]
