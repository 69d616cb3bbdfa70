"""Samples of judged pairs: as many of each label, the same ones for a seed."""

import pytest

from gradelake.grading.prompts.judged_pairs import sample_pairs
from gradelake.sql.common.errors import BadInput
from gradelake.sql.lake.opening import Lake
from tests.ingest.conftest import Tiny
from tests.places import missing_dl19

pytestmark = pytest.mark.slow

# passage pN is judged N mod 4 - 1: -1, 0, 1, 2, -1, ... Of 24 pairs 12 count as 0, 6 as 1, 6 as 2
N_PASSAGES = 24


def make(folder, **settings) -> Tiny:
    tiny = Tiny(folder)
    tiny.write("passages.tsv", [f"p{n}\tText of passage {n}." for n in range(N_PASSAGES)])
    tiny.write("nist.qrels", [f"q1 0 p{n} {n % 4 - 1}" for n in range(N_PASSAGES)])
    tiny.configure(min_relevant=1, **settings)
    Lake.create(tiny.project).close()
    assert tiny.ingest().exit_code == 0
    return tiny


@pytest.fixture(scope="module")
def judged(tmp_path_factory):
    tiny = make(tmp_path_factory.mktemp("judged"))
    yield tiny
    tiny.close()


def drawn(tiny, share=0.5, per_label=None, seed=1, **options):
    return sample_pairs(
        tiny.lake, "tiny", "nist", share=share, per_label=per_label, seed=seed, **options
    )


def counts(sample) -> dict[int, int]:
    return {label: len(sample.of(label)) for label in sample.available}


@pytest.mark.parametrize(
    ("share", "per_label"),
    [
        (0.1, 1),  # 2.4 pairs of 3 labels: 0.8
        (0.5, 4),  # 12 pairs of 3 labels
        (0.01, 1),  # never none
    ],
)
def test_a_share_of_all_pairs_is_drawn_as_many_of_each_label(judged, share, per_label):
    sample = drawn(judged, share)
    assert (sample.per_label, counts(sample)) == (per_label, dict.fromkeys((0, 1, 2), per_label))
    assert sample.available == {0: 12, 1: 6, 2: 6}
    assert sample.short == {}


def test_of_a_label_with_few_pairs_all_are_drawn_and_that_is_said(judged):
    sample = drawn(judged, per_label=8)
    assert counts(sample) == {0: 8, 1: 6, 2: 6}
    assert sample.short == {1: 6, 2: 6}
    assert len(set(sample.pairs)) == 20


def test_the_same_seed_draws_the_same_and_another_seed_others(judged):
    assert drawn(judged, seed=7) == drawn(judged, seed=7)
    assert len({drawn(judged, seed=seed).pairs for seed in range(5)}) == 5
    few, many = drawn(judged, per_label=2, seed=3), drawn(judged, per_label=3, seed=3)
    assert set(few.pairs) < set(many.pairs)


def test_a_label_that_nobody_gave_is_refused(judged, tmp_path):
    tiny = make(tmp_path, max_relevance=3)
    with pytest.raises(BadInput, match="no passage with a text that nist gave the label 3") as told:
        drawn(tiny)
    assert "max_relevance" in told.value.hint
    tiny.close()
    with pytest.raises(BadInput, match=r"no judgments of 'nits' in tiny(.|\n)*mean 'nist'"):
        sample_pairs(judged.lake, "tiny", "nits", share=0.1, per_label=None, seed=1)


def test_only_pairs_of_the_queries_that_are_asked_for_are_drawn(judged):
    with pytest.raises(BadInput, match="the label 0 or 1 or 2"):
        drawn(judged, query_ids=("q2",))
    assert len(drawn(judged, query_ids=("q1",)).pairs) == 12


@pytest.mark.parametrize(("left_out", "n"), [(True, 23), (False, 24)])
def test_near_duplicates_that_do_not_count_are_not_drawn(tmp_path, left_out, n):
    (tmp_path / "duplicates.tsv").write_text("p0\tp1\n", encoding="utf-8")
    tiny = make(tmp_path, near_duplicates="duplicates.tsv", leave_out_near_duplicates=left_out)
    sample = drawn(tiny, per_label=12)
    assert (len(sample.pairs), sum(sample.available.values())) == (n, n)
    tiny.close()


def test_a_tenth_of_trec_dl_2019_is_232_pairs_of_each_label(dl19):
    """9,260 judgments of 4 labels: 926 / 4 = 231.5, and rounding goes to the even number."""
    if reason := missing_dl19():
        pytest.skip(reason)
    from gradelake.sql.common.project import Project

    with Lake.live(Project.find(dl19)) as lake:
        sample = sample_pairs(lake, "dl19", "nist", share=0.1, per_label=None, seed=1)
        total = lake.value("select count(*) from lake.raw.judgments where collection = 'dl19'")
    assert (total, sum(sample.available.values())) == (9260, 9260)
    assert counts(sample) == dict.fromkeys(range(4), 232)
