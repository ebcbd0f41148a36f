"""The catalogue: what is known of every data set before a single byte of it is read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from string import ascii_uppercase
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

__all__ = ["CATALOGUE", "DataSet", "Task"]

WHOLE = "all"  # the key of `counts` for a set that comes without a split

_UNSTATED = "not stated in the copy; look it up at the origin before redistributing"
_UCI = "https://archive.ics.uci.edu/dataset/"
_ODDS = "Rayana, S. (2016). ODDS Library. Stony Brook University."
_RINIKER = (
    "Riniker, S. and Landrum, G. A. (2013). Open-source platform to benchmark fingerprints for "
    "ligand-based virtual screening. J. Cheminformatics 5:26."
)
_SHARED_DECOYS = "zinc"  # ChEMBL's decoys carry this in place of a target and serve every target


class Task(NamedTuple):
    """The rows of a file as a ranking task: the features, the class of each row and the names of classes."""

    rows: Any
    features: tuple[str, ...]
    target: npt.NDArray[np.int64]
    target_names: list[str]


def label_task(record: DataSet, rows: Any, options: Mapping[str, Any]) -> Task:
    """Class 1 is the label ``positive``, class 0 every other."""
    positive = str(options["positive"])
    others = [label for label in record.labels if label != positive]
    target = np.asarray(rows["label"] == positive, dtype=np.int64)
    return Task(rows, record.features, target, [others[0] if len(others) == 1 else "rest", positive])


def molecule_task(record: DataSet, rows: Any, options: Mapping[str, Any]) -> Task:
    """As `label_task`, of the molecules of one target and of the decoys that serve every target."""
    return label_task(record, rows[rows["target"].isin([str(options["target"]), _SHARED_DECOYS])], options)


def assay_task(record: DataSet, rows: Any, options: Mapping[str, Any]) -> Task:
    """Class 1 is active in the column of one assay; compounds that were not tested in it are left out."""
    rows = rows[rows[options["target"]].notna()]
    return Task(rows, record.features, rows[options["target"]].to_numpy().astype(np.int64), ["0", "1"])


def threshold_task(record: DataSet, rows: Any, options: Mapping[str, Any]) -> Task:
    """Class 1 has more rings than ``threshold``."""
    threshold = options["threshold"]
    target = np.asarray(rows["label"] > threshold, dtype=np.int64)
    return Task(rows, record.features, target, [f"rings <= {threshold}", f"rings > {threshold}"])


def graded_task(record: DataSet, rows: Any, options: Mapping[str, Any]) -> Task:  # noqa: ARG001
    """The classes are the grades themselves."""
    return Task(rows, record.features, rows["label"].to_numpy().astype(np.int64), list(record.labels))


def river_task(record: DataSet, rows: Any, options: Mapping[str, Any]) -> Task:
    """Class 1 has CHAS = 1; CHAS is no feature, and MEDV, the label of the file, can be one."""
    features = tuple(name for name in record.features if name != "CHAS")
    features += ("MEDV",) if options["medv"] else ()
    target = rows["CHAS"].to_numpy().astype(np.int64)
    return Task(rows.rename(columns={"label": "MEDV"}), features, target, ["CHAS = 0", "CHAS = 1"])


@dataclass(frozen=True)
class DataSet:
    """One data set: where it is, what its columns are called, what it must look like.

    Parameters
    ----------
    name : str
        What `load_dataset` is asked for.
    title, reference, licence, notes : str
        For people; ``notes`` is what one should mind.
    features : tuple of str
        Names of the feature columns, in the order of every source.
    meaning : str
        What a positive is, in words.
    counts : mapping of str to mapping of str to int, default={}
        Rows of each original label, by split (``"all"`` where the source has none).
    uncounted : int, default=0
        Rows of a set whose labels are numbers, or stand in several columns, and are not counted.
    stem : str, default=""
        Name of the Parquet file in the data folder, where it is not that of the set.
    options : mapping of str to object, default={}
        What a user can choose (``positive``, ``split``, ``target``, ``threshold``, ``medv``), at its default.
    prepare : callable, default=label_task
        Makes a `Task` of the set, the rows of the chosen split in canonical form, and the options.
    targets : tuple of str, default=()
        The values that ``target`` can take.
    text : tuple of str, default=()
        The features that are strings.
    openml : int or None, default=None
        OpenML's id of the same rows, or None where OpenML has no such set.
    bundled_decimals : int or None, default=None
        Decimals of the numbers of a set that comes with the library, in single precision; None of others.
    openml_order : tuple of str, default=()
        The splits in the order in which OpenML stores their rows.
    openml_sparse : bool, default=False
        Whether OpenML keeps the rows as a sparse matrix.
    extra : tuple of str, default=()
        Columns of the file that are neither features nor label nor split.
    shown : mapping of str to str, default={}
        Names in the Bunch that show a column beside data and target, and the column.
    labelled : bool, default=True
        Whether the file has a column ``label``; otherwise the targets are columns.
    """

    name: str
    title: str
    reference: str
    features: tuple[str, ...]
    meaning: str
    counts: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    uncounted: int = 0
    stem: str = ""
    notes: str = ""
    licence: str = _UNSTATED
    options: Mapping[str, Any] = field(default_factory=dict)
    prepare: Callable[[DataSet, Any, Mapping[str, Any]], Task] = label_task
    targets: tuple[str, ...] = ()
    text: tuple[str, ...] = ()
    openml: int | None = None
    bundled_decimals: int | None = None
    openml_order: tuple[str, ...] = ()
    openml_sparse: bool = False
    extra: tuple[str, ...] = ()
    shown: Mapping[str, str] = field(default_factory=dict)
    labelled: bool = True

    @property
    def file(self) -> str:
        """Name of the Parquet file."""
        return f"{self.stem or self.name}.parquet"

    @property
    def rows(self) -> int:
        """Rows in all."""
        return self.uncounted + sum(sum(labels.values()) for labels in self.counts.values())

    @property
    def splits(self) -> tuple[str, ...]:
        """Names of the splits, () where the source has none."""
        return tuple(split for split in self.counts if split != WHOLE)

    @property
    def labels(self) -> list[str]:
        """The original labels in alphabetical order, [] where they are numbers."""
        return sorted({label for counts in self.counts.values() for label in counts})


def _names(text: str) -> tuple[str, ...]:
    return tuple(text.split())


def _numbered(count: int) -> tuple[str, ...]:
    return tuple(f"f{column}" for column in range(count))


_SPAM_WORDS = _names(
    "make address all 3d our over remove internet order mail receive will people report addresses free "
    "business email you credit your font 000 money hp hpl george 650 lab labs telnet 857 data 415 85 "
    "technology 1999 parts pm direct cs meeting original project re edu table conference"
)

_LETTER_COUNTS = _names(
    "789 766 736 805 768 775 773 734 755 747 739 761 792 783 753 803 783 758 748 796 813 764 752 787 786 734"
)

_ASSAYS = _names(
    "NR-AR NR-AR-LBD NR-AhR NR-Aromatase NR-ER NR-ER-LBD NR-PPAR-gamma SR-ARE SR-ATAD5 SR-HSE SR-MMP SR-p53"
)


def _molecules(
    name: str, title: str, reference: str, counts: dict[str, int], notes: str, default: str, targets: str
) -> DataSet:
    return DataSet(
        name=name,
        title=title,
        reference=reference,
        stem=f"vs_{name}",
        features=("SMILES",),
        counts={WHOLE: counts},
        meaning="a compound active on the target",
        notes=notes,
        options={"target": default, "positive": "active"},
        prepare=molecule_task,
        targets=_names(targets),
        text=("SMILES",),
        extra=("name", "target"),
        shown={"compound_ids": "name"},
    )


_SETS = (
    DataSet(
        name="ionosphere",
        title="Ionosphere: radar returns from free electrons, with or without structure",
        reference=f"Sigillito, V. et al. (1989). {_UCI}52",
        features=_numbered(34),
        counts={WHOLE: {"b": 126, "g": 225}},
        options={"positive": "g"},
        meaning="a good return, one that shows structure in the ionosphere",
        notes='Good returns are the majority; take positive="b" for rare positives.',
        openml=59,
    ),
    DataSet(
        name="magic",
        title="MAGIC gamma telescope: showers of gamma rays against hadrons",
        reference="Bock, R. K. et al. (2004). Methods for multidimensional event classification: "
        "a case study using images from a Cherenkov gamma-ray telescope. Nucl. Instrum. Methods A "
        f"516, 511-528. {_UCI}159",
        stem="magic04",
        features=_names("fLength fWidth fSize fConc fConc1 fAsym fM3Long fM3Trans fAlpha fDist"),
        counts={WHOLE: {"g": 12332, "h": 6688}},
        options={"positive": "g"},
        meaning="a gamma ray, the signal; hadrons are the background",
        licence="CC BY 4.0",
        bundled_decimals=4,
    ),
    DataSet(
        name="housing",
        title="Boston housing: does the tract bound the Charles River (CHAS)?",
        reference="Harrison, D. and Rubinfeld, D. L. (1978). Hedonic housing prices and the "
        "demand for clean air. J. Environ. Economics and Management 5, 81-102.",
        stem="boston_housing",
        features=_names("CRIM ZN INDUS CHAS NOX RM AGE DIS RAD TAX PTRATIO B LSTAT"),
        uncounted=506,
        meaning="a tract that bounds the river, CHAS = 1",
        notes="The column B is a function of the share of Black residents that the authors built on an "
        "assumption about segregation. The set is here to reproduce published figures, not as a model of "
        "anything else.",
        options={"medv": True},
        prepare=river_task,
        openml=531,
    ),
    DataSet(
        name="spambase",
        title="Spambase: word and character frequencies of e-mails",
        reference=f"Hopkins, M., Reeber, E., Forman, G. and Suermondt, J. (1999). {_UCI}94",
        features=(
            *(f"word_freq_{word}" for word in _SPAM_WORDS),
            *(f"char_freq_{character}" for character in ";([!$#"),
            *(f"capital_run_length_{statistic}" for statistic in ("average", "longest", "total")),
        ),
        counts={WHOLE: {"0": 2788, "1": 1813}},
        options={"positive": "1"},
        meaning="spam",
        openml=44,
    ),
    DataSet(
        name="cod_rna",
        title="Detection of non-coding RNA",
        reference="Uzilov, A. V., Keegan, J. M. and Mathews, D. H. (2006). Detection of non-coding RNAs on "
        "the basis of predicted secondary structure formation free energy change. BMC Bioinformatics 7:173.",
        features=_numbered(8),
        counts={WHOLE: {"-1": 325710, "1": 162855}},
        options={"positive": "1"},
        meaning="a non-coding RNA (33 %)",
        openml=351,
        openml_sparse=True,
    ),
    DataSet(
        name="ijcnn1",
        title="IJCNN 2001 challenge, task 1, in the winner's transformation",
        reference="Prokhorov, D. (2001), IJCNN 2001 neural network competition; Chang, C.-C. and Lin, C.-J. "
        "(2001), IJCNN 2001 challenge: generalization ability and text decoding. Proc. IJCNN, 1031-1036.",
        features=_numbered(22),
        counts={"train": {"-1": 45137, "1": 4853}, "test": {"-1": 82989, "1": 8712}},
        options={"positive": "1", "split": None},
        meaning="class 1, the rare one (9.6 %)",
        notes="The set on OpenML holds the training rows twice, so it is not fetched.",
    ),
    DataSet(
        name="adult",
        title="Adult (census income), raw columns",
        reference=f"Kohavi, R. and Becker, B. (1996). {_UCI}2",
        features=_names(
            "age workclass fnlwgt education education-num marital-status occupation relationship race "
            "sex capital-gain capital-loss hours-per-week native-country"
        ),
        counts={"train": {"<=50K": 24720, ">50K": 7841}, "test": {"<=50K": 12435, ">50K": 3846}},
        options={"positive": ">50K", "split": None},
        meaning="an income above 50,000 dollars a year",
        notes="Values that the original marks '?' are NaN; the full stop that ends its test "
        "labels is taken off. as_frame=True keeps numbers as numbers.",
        text=_names("workclass education marital-status occupation relationship race sex native-country"),
        openml=1590,
        openml_order=("test", "train"),
    ),
    DataSet(
        name="adult_a9a",
        title="Adult (census income) in Platt's 123 binary features",
        reference=f"Kohavi, R. and Becker, B. (1996). {_UCI}2; Platt, J. (1999). Fast training of support "
        "vector machines using sequential minimal optimization. In Advances in Kernel Methods, MIT Press.",
        features=_numbered(123),
        counts={"train": {"-1": 24720, "1": 7841}, "test": {"-1": 12435, "1": 3846}},
        options={"positive": "1", "split": None},
        meaning="an income above 50,000 dollars a year",
    ),
    DataSet(
        name="letter",
        title="Letter recognition: one capital letter against the other 25",
        reference="Frey, P. W. and Slate, D. J. (1991). Letter recognition using Holland-style adaptive "
        f"classifiers. Machine Learning 6, 161-182. {_UCI}59",
        features=_names(
            "x-box y-box width high onpix x-bar y-bar x2bar y2bar xybar x2ybr xy2br x-ege xegvy y-ege yegvx"
        ),
        counts={WHOLE: dict(zip(ascii_uppercase, map(int, _LETTER_COUNTS), strict=True))},
        meaning="the chosen letter",
        notes="Each letter is between 3.6 % and 4.1 % of the rows. Papers often train on the "
        "first 16000 rows and test on the last 4000; that needs the order of the file, which "
        "OpenML may not have.",
        options={"positive": "A"},
        shown={"label": "label"},
        openml=6,
    ),
    DataSet(
        name="cover_odds",
        title="Forest cover type as the ODDS set 'cover': class 4 against class 2",
        reference="Blackard, J. A. and Dean, D. J. (1999). Comparative accuracies of artificial "
        "neural networks and discriminant analysis in predicting forest cover types. Comput. "
        f"Electron. Agric. 24, 131-151. {_UCI}31; {_ODDS}",
        features=_names(
            "Elevation Aspect Slope Horizontal_Distance_To_Hydrology Vertical_Distance_To_Hydrology "
            "Horizontal_Distance_To_Roadways Hillshade_9am Hillshade_Noon Hillshade_3pm "
            "Horizontal_Distance_To_Fire_Points"
        ),
        counts={WHOLE: {"0": 283301, "1": 2747}},
        options={"positive": "1"},
        meaning="cover type 4, cottonwood/willow (0.96 %)",
        notes="Cover type 2, lodgepole pine, is the negative class; the other five types of the "
        "full set and its 44 binary columns are left out.",
    ),
    *(
        DataSet(
            name=f"kddcup99_{service}",
            title=f"KDD Cup 1999 intrusion detection, {service} service, log-transformed (ODDS)",
            reference=f"Hettich, S. and Bay, S. D. (1999). The UCI KDD Archive; {_ODDS}",
            features=("duration", "src_bytes", "dst_bytes"),
            counts={WHOLE: {"0": negatives, "1": positives}},
            options={"positive": "1"},
            meaning="an attack",
            notes=notes,
        )
        for service, negatives, positives, notes in (
            (
                "http",
                565287,
                2211,
                "Heavily tied: only 221900 of the rows differ, so the way ties are counted shows "
                "in every measure.",
            ),
            ("smtp", 95126, 30, ""),
        )
    ),
    DataSet(
        name="abalone",
        title="Abalone: age in rings from physical measurements",
        reference=f"Nash, W. J. et al. (1994). The population biology of abalone. {_UCI}1",
        features=_names("Sex Length Diameter Height Whole_weight Shucked_weight Viscera_weight Shell_weight"),
        uncounted=4177,
        meaning="more rings than the threshold, an old animal",
        notes="Sex is M, F or I (infant), so data is of object dtype. 1447 animals have more than "
        "10 rings, 62 more than 19.",
        options={"threshold": 10},
        prepare=threshold_task,
        text=("Sex",),
        shown={"rings": "label"},
        openml=183,
    ),
    DataSet(
        name="lambdarank_example",
        title="The learning-to-rank example shipped with LightGBM, graded 0 to 4",
        reference="Ke, G. et al. (2017). LightGBM: a highly efficient gradient boosting decision "
        "tree. NeurIPS 30. https://github.com/microsoft/LightGBM",
        stem="lambdarank_lightgbm",
        features=_numbered(300),
        counts={
            "train": {"0": 645, "1": 1211, "2": 858, "3": 222, "4": 69},
            "test": {"0": 206, "1": 256, "2": 252, "3": 44, "4": 10},
        },
        meaning="a higher grade is more relevant to the query",
        notes="Queries 0 to 200 are for training, 201 to 250 for testing; return_X_y=True leaves qid out.",
        licence="MIT (that of the repository the copy comes from)",
        options={"split": None},
        prepare=graded_task,
        extra=("qid",),
        shown={"qid": "qid"},
    ),
    _molecules(
        "dud",
        "DUD virtual screening, 21 targets, filtered by Riniker and Landrum",
        "Huang, N., Shoichet, B. K. and Irwin, J. J. (2006). Benchmarking sets for molecular "
        f"docking. J. Med. Chem. 49, 6789-6801; {_RINIKER}",
        {"active": 1917, "decoy": 89309},
        "A target has 31 to 365 actives, 2 % to 3 % of its rows.",
        "cdk2",
        "ace ache ar cdk2 cox2 dhfr egfr er_agonist fgfr1 fxa gpb gr hivrt inha na p38 parp pdgfrb sahh src "
        "vegfr2",
    ),
    _molecules(
        "muv",
        "MUV virtual screening, 17 targets, 30 actives and 15000 decoys each",
        "Rohrer, S. G. and Baumann, K. (2009). Maximum unbiased validation (MUV) data sets for virtual "
        f"screening based on PubChem bioactivity data. J. Chem. Inf. Model. 49, 169-184; {_RINIKER}",
        {"active": 510, "decoy": 255000},
        "A target is a PubChem assay; 0.2 % of its rows are actives.",
        "466",
        "466 548 600 644 652 689 692 712 713 733 737 810 832 846 852 858 859",
    ),
    _molecules(
        "chembl",
        "ChEMBL virtual screening, 80 targets of 100 actives, 10000 ZINC decoys shared by all",
        _RINIKER,
        {"active": 8000, "decoy": 10000},
        "A target is the benchmark's number; 1 % of its rows are actives.",
        "100126",
        "100 100126 100166 100579 10188 10193 10198 10260 10280 10378 104 10417 10434 10475 10498 "
        "105 10579 107 10752 10773 108 10927 10980 11085 11140 11225 11265 11279 11336 11359 "
        "11365 114 11442 11488 11489 11534 11536 11575 116 11631 11682 121 12209 12252 12261 126 "
        "12670 12679 12840 12911 12952 12968 130 13001 134 15 165 17045 18061 19905 20014 20174 "
        "219 234 237 25 259 276 28 36 43 51 52 61 65 72 8 87 90 93",
    ),
    DataSet(
        name="tox21",
        title="Tox21 challenge (MoleculeNet), 12 toxicity assays",
        reference="Huang, R. et al. (2016). Tox21Challenge to build predictive models of nuclear "
        "receptor and stress response pathways. Front. Environ. Sci. 3:85; Wu, Z. et al. (2018). "
        "MoleculeNet. Chem. Sci. 9, 513-530.",
        features=("SMILES",),
        uncounted=7831,
        meaning="a compound active in the assay",
        notes="An assay has 5810 to 7265 tested compounds, 3 % to 16 % of them active; the others "
        "are left out.",
        options={"target": "NR-AhR"},
        prepare=assay_task,
        targets=_ASSAYS,
        text=("SMILES",),
        extra=(*_ASSAYS, "mol_id"),
        shown={"compound_ids": "mol_id"},
        labelled=False,
    ),
)

CATALOGUE: Mapping[str, DataSet] = {record.name: record for record in _SETS}
