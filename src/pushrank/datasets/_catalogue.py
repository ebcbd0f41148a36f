"""The catalogue: what is known of every data set before a single byte of it is read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from string import ascii_uppercase

__all__ = ["CATALOGUE", "DataSet"]

WHOLE = "all"  # the key of `counts` for a set that comes without a split

_UNSTATED = "not stated in the copy; look it up at the origin before redistributing"
_UCI = "https://archive.ics.uci.edu/dataset/"
_ODDS = "Rayana, S. (2016). ODDS Library. Stony Brook University."
_RINIKER = (
    "Riniker, S. and Landrum, G. A. (2013). Open-source platform to benchmark fingerprints for "
    "ligand-based virtual screening. J. Cheminformatics 5:26."
)


@dataclass(frozen=True)
class DataSet:
    """One data set: where it is, what its columns are called, what it must look like.

    Parameters
    ----------
    name : str
        The loader is called ``load_<name>``.
    title, reference, licence : str
        For people.
    file : str
        Name of the Parquet file in the data folder.
    features : tuple of str
        Names of the feature columns, in the order of every source.
    counts : mapping of str to mapping of str to int
        Rows of each original label, by split (``"all"`` where the source has none). An empty inner
        mapping means that labels are numbers, or are chosen by the loader, and are not counted.
    rows : int
        Rows in all.
    positive : str, default=""
        The original label that is the positive class by default; empty where the loader decides.
    meaning : str, default=""
        What a positive is, in words.
    text : tuple of str, default=()
        The features that are strings.
    openml : int or None, default=None
        OpenML's id of the same rows, or None where OpenML has no such set.
    openml_blocks : tuple of (str, int), default=()
        The splits in the order in which OpenML stores their rows.
    openml_sparse : bool, default=False
        Whether OpenML keeps the rows as a sparse matrix.
    extra : tuple of str, default=()
        Columns of the file that are neither features nor label nor split.
    label_columns : tuple of str, default=("label",)
        The label column; () where each of several extra columns can serve as the label.
    """

    name: str
    title: str
    reference: str
    file: str
    features: tuple[str, ...]
    counts: Mapping[str, Mapping[str, int]]
    rows: int
    positive: str = ""
    meaning: str = ""
    licence: str = _UNSTATED
    text: tuple[str, ...] = ()
    openml: int | None = None
    openml_blocks: tuple[tuple[str, int], ...] = ()
    openml_sparse: bool = False
    extra: tuple[str, ...] = ()
    label_columns: tuple[str, ...] = ("label",)

    @property
    def splits(self) -> tuple[str, ...]:
        """Names of the splits, () where the source has none."""
        return tuple(split for split in self.counts if split != WHOLE)

    @property
    def numeric_label(self) -> bool:
        """Whether the label is a number that the loader turns into classes."""
        return not any(self.counts.values())


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

_SETS = (
    DataSet(
        name="ionosphere",
        title="Ionosphere: radar returns from free electrons, with or without structure",
        reference=f"Sigillito, V. et al. (1989). {_UCI}52",
        file="ionosphere.parquet",
        features=_numbered(34),
        counts={WHOLE: {"b": 126, "g": 225}},
        rows=351,
        positive="g",
        meaning="a good return, one that shows structure in the ionosphere",
        openml=59,
    ),
    DataSet(
        name="magic",
        title="MAGIC gamma telescope: showers of gamma rays against hadrons",
        reference=f"Bock, R. K. et al. (2004). {_UCI}159",
        file="magic04.parquet",
        features=_names("fLength fWidth fSize fConc fConc1 fAsym fM3Long fM3Trans fAlpha fDist"),
        counts={WHOLE: {"g": 12332, "h": 6688}},
        rows=19020,
        positive="g",
        meaning="a gamma ray, the signal",
        openml=1120,
    ),
    DataSet(
        name="housing",
        title="Boston housing: does the tract bound the Charles River (CHAS)?",
        reference="Harrison, D. and Rubinfeld, D. L. (1978). J. Environ. Economics and Management 5, 81-102.",
        file="boston_housing.parquet",
        features=_names("CRIM ZN INDUS CHAS NOX RM AGE DIS RAD TAX PTRATIO B LSTAT"),
        counts={WHOLE: {}},
        rows=506,
        meaning="a tract that bounds the river, CHAS = 1",
        openml=531,
    ),
    DataSet(
        name="spambase",
        title="Spambase: word and character frequencies of e-mails",
        reference=f"Hopkins, M. et al. (1999). {_UCI}94",
        file="spambase.parquet",
        features=(
            *(f"word_freq_{word}" for word in _SPAM_WORDS),
            *(f"char_freq_{character}" for character in ";([!$#"),
            *(f"capital_run_length_{statistic}" for statistic in ("average", "longest", "total")),
        ),
        counts={WHOLE: {"0": 2788, "1": 1813}},
        rows=4601,
        positive="1",
        meaning="spam",
        openml=44,
    ),
    DataSet(
        name="cod_rna",
        title="Detection of non-coding RNA",
        reference="Uzilov, A. V., Keegan, J. M. and Mathews, D. H. (2006). Detection of non-coding RNAs on "
        "the basis of predicted secondary structure formation free energy change. BMC Bioinformatics 7:173.",
        file="cod_rna.parquet",
        features=_numbered(8),
        counts={WHOLE: {"-1": 325710, "1": 162855}},
        rows=488565,
        positive="1",
        meaning="a non-coding RNA (33 %)",
        openml=351,
        openml_sparse=True,
    ),
    DataSet(
        name="ijcnn1",
        title="IJCNN 2001 challenge, task 1, in the winner's transformation",
        reference="Prokhorov, D. (2001), IJCNN 2001 neural network competition; Chang, C.-C. and Lin, C.-J. "
        "(2001), IJCNN 2001 challenge: generalization ability and text decoding.",
        file="ijcnn1.parquet",
        features=_numbered(22),
        counts={"train": {"-1": 45137, "1": 4853}, "test": {"-1": 82989, "1": 8712}},
        rows=141691,
        positive="1",
        meaning="class 1, the rare one (9.6 %)",
    ),
    DataSet(
        name="adult",
        title="Adult (census income), raw columns",
        reference=f"Kohavi, R. and Becker, B. (1996). {_UCI}2",
        file="adult.parquet",
        features=_names(
            "age workclass fnlwgt education education-num marital-status occupation relationship race "
            "sex capital-gain capital-loss hours-per-week native-country"
        ),
        counts={"train": {"<=50K": 24720, ">50K": 7841}, "test": {"<=50K": 12435, ">50K": 3846}},
        rows=48842,
        positive=">50K",
        meaning="an income above 50,000 dollars a year",
        text=_names("workclass education marital-status occupation relationship race sex native-country"),
        openml=1590,
        openml_blocks=(("test", 16281), ("train", 32561)),
    ),
    DataSet(
        name="adult_a9a",
        title="Adult (census income) in Platt's 123 binary features",
        reference=f"Kohavi, R. and Becker, B. (1996). {_UCI}2; Platt, J. (1999). Fast training of support "
        "vector machines using sequential minimal optimization.",
        file="adult_a9a.parquet",
        features=_numbered(123),
        counts={"train": {"-1": 24720, "1": 7841}, "test": {"-1": 12435, "1": 3846}},
        rows=48842,
        positive="1",
        meaning="an income above 50,000 dollars a year",
    ),
    DataSet(
        name="letter",
        title="Letter recognition: one capital letter against the other 25",
        reference=f"Frey, P. W. and Slate, D. J. (1991). Machine Learning 6, 161-182. {_UCI}59",
        file="letter.parquet",
        features=_names(
            "x-box y-box width high onpix x-bar y-bar x2bar y2bar xybar x2ybr xy2br x-ege xegvy y-ege yegvx"
        ),
        counts={WHOLE: dict(zip(ascii_uppercase, map(int, _LETTER_COUNTS), strict=True))},
        rows=20000,
        meaning="the chosen letter",
        openml=6,
    ),
    DataSet(
        name="cover_odds",
        title="Forest cover type as the ODDS set 'cover': class 4 against class 2",
        reference=f"Blackard, J. A. and Dean, D. J. (1999). {_UCI}31; {_ODDS}",
        file="cover_odds.parquet",
        features=_names(
            "Elevation Aspect Slope Horizontal_Distance_To_Hydrology Vertical_Distance_To_Hydrology "
            "Horizontal_Distance_To_Roadways Hillshade_9am Hillshade_Noon Hillshade_3pm "
            "Horizontal_Distance_To_Fire_Points"
        ),
        counts={WHOLE: {"0": 283301, "1": 2747}},
        rows=286048,
        positive="1",
        meaning="cover type 4, cottonwood/willow (0.96 %)",
    ),
    *(
        DataSet(
            name=f"kddcup99_{service}",
            title=f"KDD Cup 1999 intrusion detection, {service} service, log-transformed (ODDS)",
            reference=f"Hettich, S. and Bay, S. D. (1999). The UCI KDD Archive; {_ODDS}",
            file=f"kddcup99_{service}.parquet",
            features=("duration", "src_bytes", "dst_bytes"),
            counts={WHOLE: {"0": negatives, "1": positives}},
            rows=negatives + positives,
            positive="1",
            meaning="an attack",
        )
        for service, negatives, positives in (("http", 565287, 2211), ("smtp", 95126, 30))
    ),
    DataSet(
        name="abalone",
        title="Abalone: age in rings from physical measurements",
        reference=f"Nash, W. J. et al. (1994). {_UCI}1",
        file="abalone.parquet",
        features=_names("Sex Length Diameter Height Whole_weight Shucked_weight Viscera_weight Shell_weight"),
        counts={WHOLE: {}},
        rows=4177,
        meaning="more rings than the threshold, an old animal",
        text=("Sex",),
        openml=183,
    ),
    DataSet(
        name="lambdarank_example",
        title="The learning-to-rank example shipped with LightGBM, graded 0 to 4",
        reference="Ke, G. et al. (2017). LightGBM. NeurIPS 30. https://github.com/microsoft/LightGBM",
        file="lambdarank_lightgbm.parquet",
        features=_numbered(300),
        counts={
            "train": {"0": 645, "1": 1211, "2": 858, "3": 222, "4": 69},
            "test": {"0": 206, "1": 256, "2": 252, "3": 44, "4": 10},
        },
        rows=3773,
        meaning="a higher grade is more relevant to the query",
        licence="MIT (that of the repository the copy comes from)",
        extra=("qid",),
    ),
    *(
        DataSet(
            name=name,
            title=title,
            reference=reference,
            file=f"vs_{name}.parquet",
            features=("SMILES",),
            counts={WHOLE: {"active": actives, "decoy": decoys}},
            rows=actives + decoys,
            positive="active",
            meaning="a compound active on the target",
            text=("SMILES",),
            extra=("name", "ID", "target"),
        )
        for name, title, reference, actives, decoys in (
            (
                "dud",
                "DUD virtual screening, 21 targets, filtered by Riniker and Landrum",
                f"Huang, N. et al. (2006). J. Med. Chem. 49, 6789-6801; {_RINIKER}",
                1917,
                89309,
            ),
            (
                "muv",
                "MUV virtual screening, 17 targets, 30 actives and 15000 decoys each",
                f"Rohrer, S. G. and Baumann, K. (2009). J. Chem. Inf. Model. 49, 169-184; {_RINIKER}",
                510,
                255000,
            ),
            (
                "chembl",
                "ChEMBL virtual screening, 80 targets of 100 actives, 10000 ZINC decoys shared by all",
                _RINIKER,
                8000,
                10000,
            ),
        )
    ),
    DataSet(
        name="tox21",
        title="Tox21 challenge (MoleculeNet), 12 toxicity assays",
        reference="Huang, R. et al. (2016). Front. Environ. Sci. 3:85; Wu, Z. et al. (2018). MoleculeNet. "
        "Chem. Sci. 9, 513-530.",
        file="tox21.parquet",
        features=("SMILES",),
        counts={WHOLE: {}},
        rows=7831,
        meaning="a compound active in the assay",
        text=("SMILES",),
        extra=_names(
            "NR-AR NR-AR-LBD NR-AhR NR-Aromatase NR-ER NR-ER-LBD NR-PPAR-gamma SR-ARE SR-ATAD5 SR-HSE "
            "SR-MMP SR-p53 mol_id rdkit_pass"
        ),
        label_columns=(),
    ),
)

CATALOGUE: Mapping[str, DataSet] = {record.name: record for record in _SETS}
