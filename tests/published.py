"""Figures that papers print, as they print them."""

# RUBRIC's online appendix, DL 2019, scores of 4 decimals against the official ranks:
# (label set, level, measure) -> Spearman, Kendall; "": its cell is not at hand
CORRELATIONS = {
    ("judge:Question", 1, "nDCG@10"): ("0.961", "0.848"),
    ("judge:Sun", 1, "nDCG@10"): ("0.948", "0.828"),
    ("judge:Thomas", 1, "nDCG@10"): ("0.960", "0.833"),
    ("judge:Thomas", 5, "AP"): ("", "0.414"),
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
