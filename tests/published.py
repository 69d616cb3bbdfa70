"""Figures that papers print, as they print them."""

# RUBRIC, Table 3, all of it: (method, tau) -> DL 2020 nDCG@10 Spearman, Kendall, MAP, MRR; DL 2019
# the same; CAR Y3 MAP Spearman, Kendall, nDCG@20, Rprec; and how often it is among the best
WHOLE_TABLE_3 = {
    ("Question", 1): (".974 .875 .846 .865 .961 .848 .440 .850 .931 .808 .883 .909", 8),
    ("Question", 3): (".974 .875 .872 .937 .961 .848 .418 .731 .933 .817 .883 .910", 8),
    ("Question", 4): (".974 .875 .893 .941 .961 .848 .467 .696 .933 .817 .883 .910", 8),
    ("Question", 5): (".974 .875 .946 .845 .961 .848 .882 .795 .980 .902 .883 .959", 10),
    ("Nugget", 1): (".947 .802 .626 .524 .969 .856 -.152 .423 .920 .789 .848 .915", 5),
    ("Nugget", 3): (".947 .802 .681 .275 .969 .856 .057 .526 .873 .721 .848 .907", 4),
    ("Nugget", 4): (".947 .802 .817 .609 .969 .856 .355 .598 .876 .762 .848 .893", 4),
    ("Nugget", 5): (".947 .802 .940 .838 .969 .856 .858 .798 .894 .747 .848 .878", 6),
    ("Thomas", 1): (".936 .810 .828 .751 .960 .833 .341 .755 .666 .576 .640 .646", 2),
    ("FagB", 1): (".966 .861 .922 .940 .968 .875 .864 .810 .588 .443 .582 .685", 8),
    ("FagB_few", 1): (".970 .872 .924 .918 .979 .885 .859 .771 .284 .179 .409 .320", 7),
    ("HELM", 1): (".970 .872 .919 .930 .962 .851 .863 .829 .550 .434 .486 .520", 8),
    ("Sun", 1): (".974 .880 .920 .924 .948 .828 .823 .757 .655 .510 .627 .677", 5),
    ("Sun_few", 1): (".950 .825 .928 .866 .979 .894 .882 .852 .286 .180 .286 .175", 6),
}

# its columns of DL 2019
TABLE_3_COLUMNS = ("nDCG@10 spearman", "nDCG@10 kendall", "AP spearman", "RR spearman")
TABLE_3 = {
    key: tuple(f"{float(cell):.3f}" for cell in line.split()[4:8])
    for key, (line, _) in WHOLE_TABLE_3.items()
}

# RUBRIC, section 6, DL 2019
RUBRIC_DL19 = {"queries": 43, "systems": 35, "judged passages": 9260}

# RUBRIC, Table 4, DL 2020, in the order of the board: system -> official rank, None: not submitted
RANKS_ON_A_BOARD = {
    "GPT4-question": None,
    "GPT3.5-question": None,
    "pash_f3": 3,
    "bigIR-T5xp-T5-F": 27,
    "GPT3.5-wiki": None,
    "TUW-TK-2Layer": 34,
    "terrier-InL2": 44,
    "GPT4-wiki": None,
    "terrier-BM25": 45,
    "TF_IDF_d_2_t_50": 53,
    "GPT3.5-web": None,
    "p_bm25rm3": 49,
    "indri-lmds": 47,
    "GPT4-web": None,
    "terrier-DPH": 52,
    "DoRA_Large": 59,
}
# the Workbench, Table 4: about which rank those would have
APPROXIMATE_RANKS = {
    "GPT4-question": 1,
    "GPT3.5-question": 1,
    "GPT3.5-wiki": 27,
    "GPT4-wiki": 44,
    "GPT3.5-web": 49,
    "GPT4-web": 47,
}

# UMBRELA, Table 1, DL 2019
UMBRELA_TABLE_1 = {
    "runs": 36,
    "topics": 43,
    "label_0": 5158,
    "label_1": 1601,
    "label_2": 1804,
    "label_3": 697,
}

# What papers count, pairs by label and judgment, and the kappas that they print beside these rows.
# DL 2020, RUBRIC, Table 5: label -> pairs judged 3, 2, 1, 0, and their total
DL20_COUNTS = {
    5: (64, 87, 80, 276, 507),
    4: (325, 522, 720, 1301, 2868),
    3: (23, 35, 61, 255, 374),
    2: (14, 54, 120, 299, 487),
    1: (4, 14, 17, 75, 110),
    0: (216, 308, 942, 5574, 7040),
}
DL20_BOXED = {4: "0.1", 0: "0.29"}
# Table 5 of RUBRIC and of the Workbench, judgments 2-3 | 0-1: the lowest label of the upper class,
# pairs of the upper class and their total, of the lower one, kappas
DL20_MERGED = {
    "Question": (4, (998, 2377, 3375), (668, 7343, 8011), ("0.25", "0.25")),
    "Nugget": (4, (1211, 4095, 5306), (455, 5625, 6080), ("0.16", "0.16")),
    "Sun": (1, (1272, 3492, 4764), (394, 6228, 6622), ("0.23", "0.23")),
}
# CAR Y3, Table 6 of RUBRIC, Table 4 of EXAM++, judgments 1-3 | 0
CAR_MERGED = {"Question": (4, (1910, 1117, 3027), (880, 2445, 3325), ("0.38", "0.37"))}

# DL 2019 against NIST: (label set, cut of the label and of the judgment) -> Cohen's kappa
KAPPAS = {
    ("judge:Question", ">=4|>=2"): "0.341",
    ("judge:Sun", ">=1|>=2"): "0.371",
    ("judge:Thomas", ">=1|>=2"): "0.130",
}

# grades of the LLMJudge challenge's development half, from its file: kappa of the cut >=4|>=2
LLMJUDGE_KAPPAS = {
    "flan-t5-large.QuestionSelfRatedUnanswerablePromptWithChoices": "0.202",
    "flan-t5-large.NuggetSelfRatedPrompt": "0.065",
}
