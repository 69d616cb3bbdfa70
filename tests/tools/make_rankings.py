"""Make the demo collection's rankings and everything derived from them.

Reads the source files beside this script (topics, passages, responses, question bank and
judgments) and writes

* ``runs/NAME.run``: ten small rankers, TREC format, at most 50 passages a query;
* ``labels/overlap.qrels``: a rule-based direct judge, labels 0-3;
* ``labels/rubric_overlap.qrels``: the same kind of rule over the rubric's questions, labels 0-5;
* ``official_ranks.json``: the systems' ranks by mean nDCG@10 under ``judgments.qrels``.

Rerun with ``python tests/tools/make_rankings.py``; needs numpy, scikit-learn and pytrec_eval,
no network, and takes a few seconds. The output is the same on every run.
"""

import json
import math
import re
from collections import Counter
from collections.abc import Callable
from hashlib import md5
from pathlib import Path

import numpy as np
import pytrec_eval
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer

HERE = Path(__file__).resolve().parent
SEED = 1453
DEPTH = 50
LABEL_DEPTH = 20
UNRANKED = {"char_ngrams"}  # real tracks have systems without an official rank, too
STOPWORD_TEXT = """
    a about after against all also an and any are as at be because been before but by can could
    did do does each for from had has have he her his how if in into is it its itself may me more
    most must my no nor not of on one only or other our out over she should so some such than that
    the their them then there these they this those to too up was we were what when where
    whether which while who whom whose why will with would you your
"""
STOPWORDS = frozenset(STOPWORD_TEXT.split())
SUFFIXES = ("ingly", "edly", "ings", "ions", "ing", "ion", "ied", "ies", "ed", "es", "ly", "s", "e")

Scores = dict[str, float]
Ranker = Callable[[str], Scores]


def read_jsonl(path: Path) -> list[dict]:
    with path.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def read_topics() -> dict[str, str]:
    lines = (HERE / "topics.tsv").read_text(encoding="utf-8").splitlines()
    return dict(line.split("\t") for line in lines)


def read_qrels(path: Path) -> dict[str, dict[str, int]]:
    qrels: dict[str, dict[str, int]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        query_id, _, passage_id, relevance = line.split()
        qrels.setdefault(query_id, {})[passage_id] = int(relevance)
    return qrels


def words(text: str) -> list[str]:
    return re.findall(r"[a-z0-9]+", text.lower())


def content_words(text: str) -> list[str]:
    return [word for word in words(text) if word not in STOPWORDS]


def light_stem(word: str) -> str:
    for suffix in SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= 4:
            return word[: -len(suffix)]
    return word


def stems(text: str) -> list[str]:
    return [light_stem(word) for word in content_words(text)]


class Index:
    """Term statistics of the passages under one way of cutting text into terms."""

    def __init__(self, passages: dict[str, str], analyze: Callable[[str], list[str]]):
        self.analyze = analyze
        self.counts = {pid: Counter(analyze(text)) for pid, text in passages.items()}
        self.lengths = {pid: sum(counts.values()) for pid, counts in self.counts.items()}
        self.mean_length = sum(self.lengths.values()) / len(self.lengths)
        self.frequency: Counter = Counter()
        self.passage_frequency: Counter = Counter()
        for counts in self.counts.values():
            self.frequency.update(counts)
            self.passage_frequency.update(counts.keys())

    def idf(self, term: str) -> float:
        n = self.passage_frequency[term]
        return math.log(1 + (len(self.counts) - n + 0.5) / (n + 0.5))


def bm25_scores(index: Index, weights: dict[str, float], k1: float, b: float) -> Scores:
    scores = {}
    for pid, counts in index.counts.items():
        norm = k1 * (1 - b + b * index.lengths[pid] / index.mean_length)
        scores[pid] = sum(
            weight * index.idf(term) * counts[term] * (k1 + 1) / (counts[term] + norm)
            for term, weight in weights.items()
            if term in counts
        )
    return scores


def bm25(index: Index, k1: float, b: float) -> Ranker:
    return lambda query: bm25_scores(index, Counter(index.analyze(query)), k1, b)


def bm25_rm3(
    index: Index,
    k1: float = 0.9,
    b: float = 0.4,
    feedback: int = 5,
    terms: int = 12,
    original: float = 0.6,
) -> Ranker:
    """BM25 with its query expanded by words of its own first passages (relevance model 3)."""

    def rank(query: str) -> Scores:
        query_counts = Counter(index.analyze(query))
        first = bm25_scores(index, query_counts, k1, b)
        top = sorted(first, key=lambda pid: (-first[pid], pid))[:feedback]
        total = sum(first[pid] for pid in top)
        model: Counter = Counter()
        for pid in top:
            for term, count in index.counts[pid].items():
                model[term] += first[pid] / total * count / index.lengths[pid]
        chosen = dict(sorted(model.items(), key=lambda item: (-item[1], item[0]))[:terms])
        mass = sum(chosen.values())
        weights = {t: (1 - original) * weight / mass for t, weight in chosen.items()}
        for term, count in query_counts.items():
            share = original * count / query_counts.total()
            weights[term] = weights.get(term, 0.0) + share
        return bm25_scores(index, weights, k1, b)

    return rank


def ql_dirichlet(index: Index, mu: float = 200.0) -> Ranker:
    """Query likelihood with Dirichlet smoothing, each term's score cut off at zero."""
    collection_length = sum(index.lengths.values())

    def term_score(term: str, pid: str) -> float:
        background = mu * index.frequency[term] / collection_length
        gain = math.log(1 + index.counts[pid][term] / background)
        return max(0.0, gain + math.log(mu / (index.lengths[pid] + mu)))

    def rank(query: str) -> Scores:
        terms = [term for term in index.analyze(query) if index.frequency[term]]
        return {
            pid: sum(term_score(term, pid) for term in terms if term in counts)
            for pid, counts in index.counts.items()
        }

    return rank


def vector_cosine(passages: dict[str, str], **options) -> Ranker:
    """Cosine of tf-idf vectors, whose terms are chosen by the vectorizer's options."""
    vectorizer = TfidfVectorizer(sublinear_tf=True, **options)
    matrix = vectorizer.fit_transform(passages.values())

    def rank(query: str) -> Scores:
        scores = (matrix @ vectorizer.transform([query]).T).toarray().ravel()
        return dict(zip(passages, scores.tolist(), strict=True))

    return rank


def lsa(passages: dict[str, str], dimensions: int = 60) -> Ranker:
    """Cosine in the space of a truncated singular value decomposition."""
    vectorizer = TfidfVectorizer(analyzer=stems, sublinear_tf=True)
    svd = TruncatedSVD(dimensions, algorithm="arpack", random_state=SEED)
    matrix = svd.fit_transform(vectorizer.fit_transform(passages.values()))
    matrix /= np.linalg.norm(matrix, axis=1, keepdims=True)

    def rank(query: str) -> Scores:
        vector = svd.transform(vectorizer.transform([query]))[0]
        length = np.linalg.norm(vector)
        scores = matrix @ vector / length if length else np.zeros(len(matrix))
        return dict(zip(passages, scores.tolist(), strict=True))

    return rank


def coordination_match(index: Index, at_least: int = 2) -> Ranker:
    """The number of query words a passage has; none below two, so a query can stay unanswered."""

    def rank(query: str) -> Scores:
        terms = set(index.analyze(query))
        shared = {pid: len(terms & counts.keys()) for pid, counts in index.counts.items()}
        return {pid: float(count) for pid, count in shared.items() if count >= at_least}

    return rank


def rarest_word(index: Index) -> Ranker:
    """The share of a passage taken by the one query word that the fewest passages have."""

    def rank(query: str) -> Scores:
        known = sorted(term for term in index.analyze(query) if index.passage_frequency[term])
        term = min(known, key=lambda word: index.passage_frequency[word])
        return {pid: counts[term] / index.lengths[pid] for pid, counts in index.counts.items()}

    return rank


def fusion(rankers: list[Ranker], damping: int = 20) -> Ranker:
    """Reciprocal rank fusion of several rankers."""

    def rank(query: str) -> Scores:
        fused: Scores = {}
        for ranker in rankers:
            for place, (pid, _) in enumerate(top_of(ranker(query)), start=1):
                fused[pid] = fused.get(pid, 0.0) + 1 / (damping + place)
        return fused

    return rank


def make_rankers(passages: dict[str, str]) -> dict[str, Ranker]:
    raw, plain, stemmed = (Index(passages, cut) for cut in (words, content_words, stems))
    rankers = {
        "bm25": bm25(raw, k1=0.9, b=0.4),
        "bm25_tuned": bm25(stemmed, k1=1.4, b=0.6),
        "bm25_rm3": bm25_rm3(stemmed),
        "ql_dirichlet": ql_dirichlet(plain),
        "tfidf_cosine": vector_cosine(passages, analyzer=words),
        "lsa": lsa(passages),
        "char_ngrams": vector_cosine(passages, analyzer="char_wb", ngram_range=(3, 5)),
        "coordination_match": coordination_match(plain),
        "rarest_word": rarest_word(plain),
    }
    fused = ("bm25_rm3", "lsa", "char_ngrams")
    return {"fusion": fusion([rankers[name] for name in fused]), **rankers}


def top_of(scores: Scores) -> list[tuple[str, float]]:
    """The first passages with a positive score; equal scores in the order of their ids."""
    rounded = {pid: round(score, 6) for pid, score in scores.items()}
    positive = [(pid, score) for pid, score in rounded.items() if score > 0]
    return sorted(positive, key=lambda row: (-row[1], row[0]))[:DEPTH]


def run_lines(name: str, rankings: dict[str, list[tuple[str, float]]]) -> str:
    return "".join(
        f"{query_id} Q0 {pid} {rank} {score:.6f} {name}\n"
        for query_id, ranking in rankings.items()
        for rank, (pid, score) in enumerate(ranking, start=1)
    )


def overlap_label(index: Index, query: str, text: str) -> int:
    """Label 0-3: the idf-weighted share of the query's words found in the text."""
    share = found_share(index, set(stems(query)), set(stems(text)))
    return sum(share >= cut for cut in (0.15, 0.35, 0.6))


def found_share(index: Index, wanted: set[str], found: set[str]) -> float:
    return found_weight(index, wanted, wanted & found) / found_weight(index, wanted, wanted)


def found_weight(index: Index, wanted: set[str], found: set[str]) -> float:
    return sum(index.idf(term) for term in sorted(wanted & found))


def rubric_label(index: Index, questions: list[dict], text: str) -> int:
    """Label 0-5: the best share of a question's words, gold answers' words counted double."""
    found = set(stems(text))
    best = max(question_share(index, question, found) for question in questions)
    return sum(best >= cut for cut in (0.2, 0.35, 0.5, 0.65, 0.8))


def question_share(index: Index, question: dict, found: set[str]) -> float:
    asked = set(stems(question["question_text"]))
    shares = []
    for gold in question.get("gold_answers") or [""]:
        answer = set(stems(gold))
        total = found_weight(index, asked, asked) + 2 * found_weight(index, answer, answer)
        hit = found_weight(index, asked, found) + 2 * found_weight(index, answer, found)
        shares.append(hit / total)
    return max(shares)


def label_pool(runs: dict, qrels: dict, query_id: str) -> list[str]:
    pool = set(qrels[query_id])
    for rankings in runs.values():
        pool.update(pid for pid, _ in rankings[query_id][:LABEL_DEPTH])
    return sorted(pool)


def qrels_lines(labels: dict[str, dict[str, int]]) -> str:
    return "".join(
        f"{query_id} 0 {pid} {label}\n"
        for query_id, row in labels.items()
        for pid, label in row.items()
    )


def mean_ndcg(qrels: dict, rankings: dict[str, list[tuple[str, float]]]) -> float:
    """Mean nDCG@10 over all judged queries; an unanswered one counts as zero."""
    run = {query_id: dict(ranking) for query_id, ranking in rankings.items() if ranking}
    results = pytrec_eval.RelevanceEvaluator(qrels, {"ndcg_cut.10"}).evaluate(run)
    return round(sum(row["ndcg_cut_10"] for row in results.values()) / len(qrels), 4)


def average_ranks(values: dict[str, float]) -> dict[str, float]:
    """Rank 1 for the greatest value; equal values share the mean of their ranks."""
    ranks = {}
    for name, value in values.items():
        better = sum(other > value for other in values.values())
        equal = sum(other == value for other in values.values())
        ranks[name] = better + (equal + 1) / 2
    return dict(sorted(ranks.items(), key=lambda item: (item[1], item[0])))


def write(name: str, text: str) -> None:
    path = HERE / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="\n")


def main() -> None:
    topics = read_topics()
    passages = {row["passage_id"]: row["text"] for row in read_jsonl(HERE / "passages.jsonl")}
    banks = {row["query_id"]: row["items"] for row in read_jsonl(HERE / "question_bank.jsonl")}
    qrels = read_qrels(HERE / "judgments.qrels")
    texts = dict(passages)
    for row in read_jsonl(HERE / "responses.jsonl"):
        texts[md5(row["text"].strip().encode("utf-8")).hexdigest()] = row["text"]

    runs = {
        name: {query_id: top_of(rank(query)) for query_id, query in topics.items()}
        for name, rank in make_rankers(passages).items()
    }
    for name, rankings in runs.items():
        write(f"runs/{name}.run", run_lines(name, rankings))

    index = Index(passages, stems)
    pools = {query_id: label_pool(runs, qrels, query_id) for query_id in topics}
    direct = {
        query_id: {pid: overlap_label(index, topics[query_id], texts[pid]) for pid in pool}
        for query_id, pool in pools.items()
    }
    rubric = {
        query_id: {pid: rubric_label(index, banks[query_id], texts[pid]) for pid in pool}
        for query_id, pool in pools.items()
    }
    write("labels/overlap.qrels", qrels_lines(direct))
    write("labels/rubric_overlap.qrels", qrels_lines(rubric))

    ndcg = {name: mean_ndcg(qrels, rankings) for name, rankings in runs.items()}
    ranks = average_ranks({name: value for name, value in ndcg.items() if name not in UNRANKED})
    write("official_ranks.json", json.dumps(ranks, indent=2) + "\n")
    for name, value in sorted(ndcg.items(), key=lambda item: -item[1]):
        print(f"{name:20} nDCG@10 {value:.4f}  rank {ranks.get(name, '-')}")


if __name__ == "__main__":
    main()
