"""The pictures on pages show the report and browser of today: by their words, not their pixels."""

import pytest
from PIL import Image

from tests.tools.gallery import GALLERY, PICTURES, REVIEWS, SERVED, SHOWS, picture, served

PAGE = GALLERY.parent / "README.md"


@pytest.mark.slow
@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_of_the_gallery_shows_the_report_of_today(browser, demo_page, name):
    file = GALLERY / f"{name}.png"
    _, shows = picture(browser, demo_page, PICTURES[name])
    assert Image.open(file).text[SHOWS] == shows, "renew it: python -m tests.tools.gallery"  # type: ignore[attr-defined]
    assert file.stat().st_size < 100_000
    assert f"gallery/{name}.png" in PAGE.read_text(encoding="utf-8")
    assert {file.stem for file in GALLERY.iterdir()} == set(PICTURES)


@pytest.mark.slow
def test_a_queue_in_the_browser_looks_as_on_the_page_of_reviews(browser, graded_demo, tmp_path):
    page = (REVIEWS.parent / "README.md").read_text(encoding="utf-8")
    found = served(browser, graded_demo, tmp_path)
    assert set(found) == set(SERVED) == {file.stem for file in REVIEWS.iterdir()}
    for name, (_, shows) in found.items():
        file = REVIEWS / f"{name}.png"
        assert Image.open(file).text[SHOWS] == shows, "renew it: python -m tests.tools.gallery"  # type: ignore[attr-defined]
        assert file.stat().st_size < 100_000
        assert f"gallery/{name}.png" in page
