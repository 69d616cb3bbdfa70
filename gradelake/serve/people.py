"""Who may do what: a file beside gradelake.toml that its owner alone can read, never in the lake.

It holds a hash of each person's secret, so that whoever reads it can enter as nobody; and the key
that signs cookies, so that people stay signed in when the server starts again, and which sessions
ended.
"""

import hashlib
import hmac
import json
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta

from gradelake.sql.common.clock import utc_now
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.project import Project, check_name, did_you_mean
from gradelake.sql.common.whole_file import whole_file
from gradelake.sql.lake.lock import file_lock

NAME = ".gradelake-people.json"
# each may do what those before it may: read boards; review; edit rubrics and ask SQL; grade
ROLES = ("reader", "assessor", "editor", "operator")


@dataclass(frozen=True)
class Person:
    """Somebody who may enter. `stamp` changes with their secret, and ends older cookies."""

    name: str
    role: str
    stamp: str
    added_at: str = ""

    def may(self, role: str) -> bool:
        return ROLES.index(self.role) >= ROLES.index(role)


class People:
    """The file of people of a project; read again when it has changed."""

    def __init__(self, project: Project):
        self.file = project.folder / NAME
        self._read_at: tuple[int, int, int] | None = None
        self._content: dict = {}
        self._guests: list[Person] = []

    def everybody(self) -> list[Person]:
        """By name."""
        return [self._person(name) for name in sorted(self._now()["people"])]

    def named(self, name: str, stamp: str = "") -> Person | None:
        """The person of a name, if they may enter; with how their stamp begins, for a guest may
        have the name of somebody who was added."""
        added = [self._person(name)] if name in self._now()["people"] else []
        both = [*added, *(one for one in self._guests if one.name == name)]
        return next((one for one in both if one.stamp.startswith(stamp)), None)

    def of_secret(self, secret: str) -> Person | None:
        """The person whose secret this is; None if it is nobody's."""
        hashed, found = _hash(secret), None
        for one in (*self._guests, *self.everybody()):
            if hmac.compare_digest(hashed, one.stamp):  # all are compared, however soon one fits
                found = one
        return found

    def add(self, name: str, role: str) -> str:
        """Let somebody in; returns the secret, which is kept nowhere.

        Of a name that is there: a new secret and role, and the old secret ends. Raises `BadInput`
        for a name that the lake cannot have.
        """
        check_name(name, "assessor")
        secret = secrets.token_urlsafe(32)
        with self._changing() as content:
            content["people"][name] = {
                "role": role,
                "sha256": _hash(secret),
                "added_at": f"{utc_now():%Y-%m-%d %H:%M:%S}",
            }
        return secret

    def remove(self, name: str) -> None:
        """Let somebody in no longer, at once. Raises `BadInput` for a name that never was there."""
        with self._changing() as content:
            removed = {*content.get("removed", ())}
            if name not in content["people"]:
                if name in removed:
                    return
                nobody = "There is nobody yet. `gradelake assessor add` lets people in."
                hint = did_you_mean(name, content["people"], nobody)
                raise BadInput(f"nobody is called {name!r}", hint)
            del content["people"][name]
            content["removed"] = sorted(removed | {name})

    def guest(self, name: str, role: str) -> str:
        """Let somebody in for as long as this process lives; returns the secret."""
        secret = secrets.token_urlsafe(32)
        self._guests.append(Person(name, role, _hash(secret)))
        return secret

    def key(self) -> str:
        """What signs cookies; made when it is first asked for."""
        if "key" not in self._now():
            with self._changing() as content:
                content.setdefault("key", secrets.token_urlsafe(32))
        return self._now()["key"]

    def end(self, session: str, days: int) -> None:
        """Remember that a session ended, for as long as its cookie would have been good."""
        with self._changing() as content:
            old = f"{utc_now() - timedelta(days=days):%Y-%m-%d %H:%M:%S}"
            ended = {each: at for each, at in content.get("ended", {}).items() if at > old}
            content["ended"] = ended | {session: f"{utc_now():%Y-%m-%d %H:%M:%S}"}

    def has_ended(self, session: str) -> bool:
        """Whether who had a session signed out of it."""
        return session in self._now().get("ended", {})

    def _person(self, name: str) -> Person:
        one = self._content["people"][name]
        return Person(name, one["role"], one["sha256"], one["added_at"])

    def _now(self) -> dict:
        try:
            about = self.file.stat()
        except FileNotFoundError:
            self._read_at, self._content = None, {"people": {}}
            return self._content
        if about.st_mode & 0o077:
            raise BadInput(
                f"{self.file}: others than its owner may read it", f"chmod 600 {self.file}"
            )
        read_at = (about.st_ino, about.st_mtime_ns, about.st_size)
        if read_at != self._read_at:
            try:
                content = json.loads(self.file.read_text(encoding="utf-8"))
                for one in content["people"].values():
                    ROLES.index(one["role"])
                    one["sha256"], one["added_at"]
                content.get("ended", {}).items()
            except (ValueError, KeyError, TypeError, AttributeError):
                raise BadInput(
                    f"{self.file}: not as `gradelake assessor` writes it",
                    "Remove it, and add everybody again.",
                ) from None
            self._content, self._read_at = content, read_at
        return self._content

    @contextmanager
    def _changing(self) -> Iterator[dict]:
        with file_lock(self.file.with_name(f"{NAME}.lock"), "gradelake assessor"):
            content = json.loads(json.dumps(self._now()))
            yield content
            before = os.umask(0o077)  # the file is its owner's from its first byte on
            try:
                with whole_file(self.file) as stream:
                    stream.write(json.dumps(content, indent=1).encode())
            finally:
                os.umask(before)
            self._read_at = None


def _hash(secret: str) -> str:
    """Secrets are 32 random bytes: what protects weak passwords would only cost time."""
    return hashlib.sha256(secret.encode(errors="replace")).hexdigest()
