"""Figures that papers print, as they print them."""

# RUBRIC, Table 3, DL 2019: (judge, level) -> nDCG@10 Spearman, Kendall; MAP Spearman; MRR Spearman
TABLE_3_COLUMNS = ("nDCG@10 spearman", "nDCG@10 kendall", "AP spearman", "RR spearman")
TABLE_3 = {
    ("Question", 1): ("0.961", "0.848", "0.440", "0.850"),
    ("Question", 3): ("0.961", "0.848", "0.418", "0.731"),
    ("Question", 4): ("0.961", "0.848", "0.467", "0.696"),
    ("Question", 5): ("0.961", "0.848", "0.882", "0.795"),
    ("Nugget", 1): ("0.969", "0.856", "-0.152", "0.423"),
    ("Nugget", 3): ("0.969", "0.856", "0.057", "0.526"),
    ("Nugget", 4): ("0.969", "0.856", "0.355", "0.598"),
    ("Nugget", 5): ("0.969", "0.856", "0.858", "0.798"),
    ("Thomas", 1): ("0.960", "0.833", "0.341", "0.755"),
    ("FagB", 1): ("0.968", "0.875", "0.864", "0.810"),
    ("FagB_few", 1): ("0.979", "0.885", "0.859", "0.771"),
    ("HELM", 1): ("0.962", "0.851", "0.863", "0.829"),
    ("Sun", 1): ("0.948", "0.828", "0.823", "0.757"),
    ("Sun_few", 1): ("0.979", "0.894", "0.882", "0.852"),
}

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
