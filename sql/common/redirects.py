"""Requests that go to the address that was named, and to no other."""

from typing import Any
from urllib.request import HTTPRedirectHandler


class NoRedirects(HTTPRedirectHandler):
    """A redirect is an answer: urllib would go on elsewhere, with what was meant for one server."""

    def redirect_request(self, *_: Any) -> None:
        return None
