"""Signed cookies that say who somebody is, and tokens that other sites cannot know."""

import hashlib
import hmac
import secrets

from itsdangerous import BadData, URLSafeTimedSerializer

from gradelake.serve.people import People, Person

DAYS = 30  # that somebody stays signed in
_STAMP = 16  # letters of a stamp that a cookie has


class Sessions:
    """Makes and reads cookies. A cookie ends with the secret that it was given for, and when its
    session ends."""

    def __init__(self, people: People, port: int):
        self.people = people
        self.cookie = f"gradelake_{port}"  # browsers share cookies among a host's ports
        self._serializer = URLSafeTimedSerializer(people.key(), salt="session")

    def begin(self, person: Person) -> str:
        """The cookie of a new session: never one that was there before somebody signed in."""
        return self._serializer.dumps(
            [person.name, person.stamp[:_STAMP], secrets.token_urlsafe(9)]
        )

    def person(self, cookie: str | None) -> Person | None:
        """Who a cookie is of; None of a false, old or ended one."""
        try:
            name, stamp, session = self._serializer.loads(cookie or "", max_age=DAYS * 86_400)
        except (BadData, ValueError, TypeError):
            return None
        if not (isinstance(name, str) and isinstance(stamp, str) and len(stamp) == _STAMP):
            return None
        if self.people.has_ended(str(session)):
            return None
        return self.people.named(name, stamp)

    def end(self, cookie: str) -> None:
        """Let nobody in any more by a cookie: whoever signs out may have left it in a log or a
        copy."""
        if self.person(cookie):
            self.people.end(self._serializer.loads(cookie)[2], DAYS)

    def token(self, whose: str) -> str:
        """What a form must bring back, by cookie (or name, behind a proxy that knows people)."""
        return hmac.new(self.people.key().encode(), whose.encode(), hashlib.sha256).hexdigest()

    def fits(self, token: str, whose: str) -> bool:
        return hmac.compare_digest(token.encode(errors="replace"), self.token(whose).encode())
