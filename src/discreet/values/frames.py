"""Arrow tables as the frames of other libraries, which need not be installed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.errors import MissingExtraError

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa


def to_pandas(table: pa.Table) -> pd.DataFrame:
    try:
        import pandas as pd  # noqa: F401 - pyarrow needs it
    except ImportError:
        raise MissingExtraError("pandas is not installed", hint="pip install 'discreet[pandas]'") from None
    return table.to_pandas()


def to_polars(table: pa.Table) -> pl.DataFrame:
    try:
        import polars as pl
    except ImportError:
        raise MissingExtraError("Polars is not installed", hint="pip install 'discreet[polars]'") from None
    return pl.DataFrame(table)
