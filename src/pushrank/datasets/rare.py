"""Large sets with rare positives."""

from __future__ import annotations

from typing import Any

from sklearn.utils import Bunch

from pushrank.datasets._bunch import DataHome, load_binary

__all__ = ["load_cod_rna", "load_cover_odds", "load_ijcnn1", "load_kddcup99_http", "load_kddcup99_smtp"]


def load_cod_rna(
    *,
    return_X_y: bool = False,
    as_frame: bool = False,
    data_home: DataHome = None,
) -> Bunch | tuple[Any, Any]:
    """Load cod-rna: 488565 pairs of sequences, 8 numeric features, 162855 non-coding RNAs (33 %).

    Parameters
    ----------
    return_X_y, as_frame : bool, default=False
        As in `load_ionosphere`.
    data_home : path-like or None, default=None
        As in `load_ionosphere`; the file is ``cod_rna.parquet``, OpenML's set 351.

    Returns
    -------
    sklearn.utils.Bunch or tuple
        As in `load_ionosphere`, with ``data`` (488565, 8) float64. Class 1 is the original label 1.

    Raises
    ------
    DatasetNotFoundError, DatasetFormatError
        As in `load_ionosphere`.

    References
    ----------
    Uzilov, A. V., Keegan, J. M. and Mathews, D. H. (2006). Detection of non-coding RNAs on the basis of
    predicted secondary structure formation free energy change. BMC Bioinformatics 7:173.

    Examples
    --------
    >>> from pushrank.datasets import load_cod_rna
    >>> X, y = load_cod_rna(return_X_y=True)  # doctest: +SKIP
    >>> X.shape, int(y.sum())  # doctest: +SKIP
    ((488565, 8), 162855)
    """
    return load_binary("cod_rna", return_X_y=return_X_y, as_frame=as_frame, data_home=data_home)


def load_ijcnn1(
    *,
    split: str | None = None,
    return_X_y: bool = False,
    as_frame: bool = False,
    data_home: DataHome = None,
) -> Bunch | tuple[Any, Any]:
    """Load ijcnn1: 141691 rows, 22 numeric features, 13565 positives (9.6 %).

    Parameters
    ----------
    split : {"train", "test", None}, default=None
        The 49990 training rows, the 91701 test rows, or all of them, training rows first.
    return_X_y, as_frame : bool, default=False
        As in `load_ionosphere`.
    data_home : path-like or None, default=None
        As in `load_ionosphere`; the file is ``ijcnn1.parquet``. There is no OpenML source: the set there
        holds the training rows twice.

    Returns
    -------
    sklearn.utils.Bunch or tuple
        As in `load_ionosphere`, with ``data`` (n, 22) float64 and ``split`` (n,). Class 1 is the original
        label 1.

    Raises
    ------
    ValueError
        When ``split`` is no split of the set.
    DatasetNotFoundError, DatasetFormatError
        As in `load_ionosphere`.

    References
    ----------
    Chang, C.-C. and Lin, C.-J. (2001). IJCNN 2001 challenge: generalization ability and text decoding.
    Proc. IJCNN, 1031-1036.

    Examples
    --------
    >>> from pushrank.datasets import load_ijcnn1
    >>> X, y = load_ijcnn1(split="train", return_X_y=True)  # doctest: +SKIP
    >>> X.shape, int(y.sum())  # doctest: +SKIP
    ((49990, 22), 4853)
    """
    return load_binary("ijcnn1", split=split, return_X_y=return_X_y, as_frame=as_frame, data_home=data_home)


def load_cover_odds(
    *,
    return_X_y: bool = False,
    as_frame: bool = False,
    data_home: DataHome = None,
) -> Bunch | tuple[Any, Any]:
    """Load cover (ODDS): 286048 forest cells, 10 numeric features, 2747 of the rare cover type (0.96 %).

    Cover type 4 (cottonwood/willow), class 1, against cover type 2 (lodgepole pine); the other five types of
    the full set and its 44 binary columns are left out.

    Parameters
    ----------
    return_X_y, as_frame : bool, default=False
        As in `load_ionosphere`.
    data_home : path-like or None, default=None
        As in `load_ionosphere`; the file is ``cover_odds.parquet``. There is no OpenML source.

    Returns
    -------
    sklearn.utils.Bunch or tuple
        As in `load_ionosphere`, with ``data`` (286048, 10) float64.

    Raises
    ------
    DatasetNotFoundError, DatasetFormatError
        As in `load_ionosphere`.

    References
    ----------
    Blackard, J. A. and Dean, D. J. (1999). Comparative accuracies of artificial neural networks and
    discriminant analysis in predicting forest cover types. Comput. Electron. Agric. 24, 131-151.

    Examples
    --------
    >>> from pushrank.datasets import load_cover_odds
    >>> X, y = load_cover_odds(return_X_y=True)  # doctest: +SKIP
    >>> X.shape, int(y.sum())  # doctest: +SKIP
    ((286048, 10), 2747)
    """
    return load_binary("cover_odds", return_X_y=return_X_y, as_frame=as_frame, data_home=data_home)


def load_kddcup99_http(
    *,
    return_X_y: bool = False,
    as_frame: bool = False,
    data_home: DataHome = None,
) -> Bunch | tuple[Any, Any]:
    """Load http (ODDS): 567498 connections, 3 log-transformed features, 2211 attacks (0.39 %).

    Parameters
    ----------
    return_X_y, as_frame : bool, default=False
        As in `load_ionosphere`.
    data_home : path-like or None, default=None
        As in `load_ionosphere`; the file is ``kddcup99_http.parquet``. There is no OpenML source.

    Returns
    -------
    sklearn.utils.Bunch or tuple
        As in `load_ionosphere`, with ``data`` (567498, 3) float64: the logarithms of duration and of the
        bytes sent and received. Class 1 is an attack.

    Raises
    ------
    DatasetNotFoundError, DatasetFormatError
        As in `load_ionosphere`.

    Notes
    -----
    Heavily tied: only 221900 of the rows differ, so the way ties are counted shows in every measure.

    References
    ----------
    Hettich, S. and Bay, S. D. (1999). The UCI KDD Archive. Rayana, S. (2016). ODDS Library.

    Examples
    --------
    >>> from pushrank.datasets import load_kddcup99_http
    >>> X, y = load_kddcup99_http(return_X_y=True)  # doctest: +SKIP
    >>> X.shape, int(y.sum())  # doctest: +SKIP
    ((567498, 3), 2211)
    """
    return load_binary("kddcup99_http", return_X_y=return_X_y, as_frame=as_frame, data_home=data_home)


def load_kddcup99_smtp(
    *,
    return_X_y: bool = False,
    as_frame: bool = False,
    data_home: DataHome = None,
) -> Bunch | tuple[Any, Any]:
    """Load smtp (ODDS): 95156 connections, 3 log-transformed features, 30 attacks (0.03 %).

    Parameters
    ----------
    return_X_y, as_frame : bool, default=False
        As in `load_ionosphere`.
    data_home : path-like or None, default=None
        As in `load_ionosphere`; the file is ``kddcup99_smtp.parquet``. There is no OpenML source.

    Returns
    -------
    sklearn.utils.Bunch or tuple
        As in `load_kddcup99_http`, with ``data`` (95156, 3) float64.

    Raises
    ------
    DatasetNotFoundError, DatasetFormatError
        As in `load_ionosphere`.

    References
    ----------
    Hettich, S. and Bay, S. D. (1999). The UCI KDD Archive. Rayana, S. (2016). ODDS Library.

    Examples
    --------
    >>> from pushrank.datasets import load_kddcup99_smtp
    >>> X, y = load_kddcup99_smtp(return_X_y=True)  # doctest: +SKIP
    >>> X.shape, int(y.sum())  # doctest: +SKIP
    ((95156, 3), 30)
    """
    return load_binary("kddcup99_smtp", return_X_y=return_X_y, as_frame=as_frame, data_home=data_home)
