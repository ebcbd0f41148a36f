"""Virtual screening and toxicity: rank a few active molecules above many inactive ones.

The data are SMILES strings. Which fingerprint turns them into features is a choice of the model, so it is
the user's; no chemistry package is needed here.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import Bunch

from pushrank.datasets._bunch import DataHome, bundle
from pushrank.datasets._catalogue import CATALOGUE
from pushrank.datasets._source import read

__all__ = ["load_chembl", "load_dud", "load_muv", "load_tox21"]

_SHARED_DECOYS = "zinc"  # ChEMBL's decoys carry this in place of a target and serve every target


def load_dud(
    target: str = "cdk2",
    *,
    return_X_y: bool = False,
    as_frame: bool = False,
    data_home: DataHome = None,
) -> Bunch | tuple[Any, Any]:
    """Load one target of DUD: the SMILES of its actives and decoys.

    Parameters
    ----------
    target : str, default="cdk2"
        One of the 21 targets: ace, ache, ar, cdk2, cox2, dhfr, egfr, er_agonist, fgfr1, fxa, gpb, gr, hivrt,
        inha, na, p38, parp, pdgfrb, sahh, src, vegfr2. They have 31 to 365 actives, 2 % to 3 % of the rows.
    return_X_y, as_frame : bool, default=False
        As in `load_ionosphere`.
    data_home : path-like or None, default=None
        As in `load_ionosphere`; the file is ``vs_dud.parquet``. There is no OpenML source.

    Returns
    -------
    sklearn.utils.Bunch or tuple
        As in `load_ionosphere`, with ``data`` (n,) the SMILES strings, class 1 the actives, and
        ``compound_ids`` (n,).

    Raises
    ------
    ValueError
        When ``target`` is no target of the set.
    DatasetNotFoundError, DatasetFormatError
        As in `load_ionosphere`.

    References
    ----------
    Huang, N., Shoichet, B. K. and Irwin, J. J. (2006). Benchmarking sets for molecular docking.
    J. Med. Chem. 49, 6789-6801. Filtered by Riniker, S. and Landrum, G. A. (2013). J. Cheminform. 5:26.

    Examples
    --------
    >>> from pushrank.datasets import load_dud
    >>> smiles, y = load_dud("cox2", return_X_y=True)  # doctest: +SKIP
    >>> smiles.shape, int(y.sum())  # doctest: +SKIP
    ((12818,), 212)
    """
    return _one_target("dud", target, return_X_y=return_X_y, as_frame=as_frame, data_home=data_home)


def load_muv(
    target: str | int = "466",
    *,
    return_X_y: bool = False,
    as_frame: bool = False,
    data_home: DataHome = None,
) -> Bunch | tuple[Any, Any]:
    """Load one target of MUV: the SMILES of 30 actives and 15000 decoys (0.2 % active).

    Parameters
    ----------
    target : str or int, default="466"
        One of the 17 PubChem assays: 466, 548, 600, 644, 652, 689, 692, 712, 713, 733, 737, 810, 832, 846,
        852, 858, 859.
    return_X_y, as_frame : bool, default=False
        As in `load_ionosphere`.
    data_home : path-like or None, default=None
        As in `load_ionosphere`; the file is ``vs_muv.parquet``. There is no OpenML source.

    Returns
    -------
    sklearn.utils.Bunch or tuple
        As in `load_dud`, with 15030 rows.

    Raises
    ------
    ValueError, DatasetNotFoundError, DatasetFormatError
        As in `load_dud`.

    References
    ----------
    Rohrer, S. G. and Baumann, K. (2009). Maximum unbiased validation (MUV) data sets for virtual screening
    based on PubChem bioactivity data. J. Chem. Inf. Model. 49, 169-184.

    Examples
    --------
    >>> from pushrank.datasets import load_muv
    >>> smiles, y = load_muv(548, return_X_y=True)  # doctest: +SKIP
    >>> smiles.shape, int(y.sum())  # doctest: +SKIP
    ((15030,), 30)
    """
    return _one_target("muv", target, return_X_y=return_X_y, as_frame=as_frame, data_home=data_home)


def load_chembl(
    target: str | int = "100126",
    *,
    return_X_y: bool = False,
    as_frame: bool = False,
    data_home: DataHome = None,
) -> Bunch | tuple[Any, Any]:
    """Load one target of the ChEMBL benchmark: the SMILES of 100 actives and 10000 decoys (1 % active).

    Parameters
    ----------
    target : str or int, default="100126"
        The benchmark's number of one of its 80 targets; a wrong one brings up the list. The decoys, from
        ZINC, are the same for every target.
    return_X_y, as_frame : bool, default=False
        As in `load_ionosphere`.
    data_home : path-like or None, default=None
        As in `load_ionosphere`; the file is ``vs_chembl.parquet``. There is no OpenML source.

    Returns
    -------
    sklearn.utils.Bunch or tuple
        As in `load_dud`, with 10100 rows.

    Raises
    ------
    ValueError, DatasetNotFoundError, DatasetFormatError
        As in `load_dud`.

    References
    ----------
    Riniker, S. and Landrum, G. A. (2013). Open-source platform to benchmark fingerprints for ligand-based
    virtual screening. J. Cheminformatics 5:26.

    Examples
    --------
    >>> from pushrank.datasets import load_chembl
    >>> smiles, y = load_chembl(10193, return_X_y=True)  # doctest: +SKIP
    >>> smiles.shape, int(y.sum())  # doctest: +SKIP
    ((10100,), 100)
    """
    return _one_target("chembl", target, return_X_y=return_X_y, as_frame=as_frame, data_home=data_home)


def load_tox21(
    assay: str = "NR-AhR",
    *,
    return_X_y: bool = False,
    as_frame: bool = False,
    data_home: DataHome = None,
) -> Bunch | tuple[Any, Any]:
    """Load one assay of Tox21: the SMILES of the compounds tested in it, active or not.

    Parameters
    ----------
    assay : str, default="NR-AhR"
        One of NR-AR, NR-AR-LBD, NR-AhR, NR-Aromatase, NR-ER, NR-ER-LBD, NR-PPAR-gamma, SR-ARE, SR-ATAD5,
        SR-HSE, SR-MMP, SR-p53. They have 5810 to 7265 tested compounds, 3 % to 16 % active.
    return_X_y, as_frame : bool, default=False
        As in `load_ionosphere`.
    data_home : path-like or None, default=None
        As in `load_ionosphere`; the file is ``tox21.parquet``. There is no OpenML source.

    Returns
    -------
    sklearn.utils.Bunch or tuple
        As in `load_dud`; compounds that were not tested in the assay are left out.

    Raises
    ------
    ValueError
        When ``assay`` is no assay of the set.
    DatasetNotFoundError, DatasetFormatError
        As in `load_ionosphere`.

    References
    ----------
    Huang, R. et al. (2016). Tox21Challenge to build predictive models of nuclear receptor and stress
    response pathways. Front. Environ. Sci. 3:85. Wu, Z. et al. (2018). MoleculeNet. Chem. Sci. 9, 513-530.

    Examples
    --------
    >>> from pushrank.datasets import load_tox21
    >>> smiles, y = load_tox21("SR-p53", return_X_y=True)  # doctest: +SKIP
    >>> smiles.shape, int(y.sum())  # doctest: +SKIP
    ((6774,), 423)
    """
    record = CATALOGUE["tox21"]
    assays = [column for column in record.extra if column.startswith(("NR-", "SR-"))]
    if assay not in assays:
        raise ValueError(f"assay={assay!r} is not known; use one of {assays}.")
    frame, source = read(record, data_home)
    frame = frame[frame[assay].notna()].reset_index(drop=True)
    return bundle(
        record,
        frame,
        target=frame[assay].to_numpy().astype(np.int64),
        target_names=["0", "1"],
        source=source,
        extra={"compound_ids": "mol_id"},
        return_X_y=return_X_y,
        as_frame=as_frame,
    )


def _one_target(
    name: str,
    target: str | int,
    *,
    return_X_y: bool,
    as_frame: bool,
    data_home: DataHome,
) -> Bunch | tuple[Any, Any]:
    record = CATALOGUE[name]
    frame, source = read(record, data_home)
    targets = sorted(set(frame["target"]) - {_SHARED_DECOYS})
    if str(target) not in targets:
        raise ValueError(f"target={target!r} is not known for {name!r}; use one of {targets}.")
    frame = frame[frame["target"].isin([str(target), _SHARED_DECOYS])].reset_index(drop=True)
    return bundle(
        record,
        frame,
        target=np.asarray(frame["label"] == record.positive, dtype=np.int64),
        target_names=["decoy", "active"],
        source=source,
        extra={"compound_ids": "name"},
        return_X_y=return_X_y,
        as_frame=as_frame,
    )
