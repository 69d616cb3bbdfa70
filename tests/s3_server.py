"""A real S3 server for tests (moto's, in memory) that checks signatures and rights."""

import json
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import boto3

from gradelake.sql import lake

BUCKET, PREFIX = "team", "gradelake"
REGION = "eu-central-1"


@dataclass(frozen=True)
class S3:
    """A server with one bucket, and who may do what below its prefix.

    `writer` and `reader` are environments with a key pair each, whose rights are the policies in
    sql/lake/rights; `root` may do everything.
    """

    endpoint: str
    pid: int  # of the server
    root: dict[str, str]
    writer: dict[str, str]
    reader: dict[str, str]

    def data(self, name: str) -> str:
        """The setting `data` of a lake."""
        return f"s3://{BUCKET}/{PREFIX}/{name}"

    def files(self, name: str) -> dict[str, int]:
        """Names and bytes of what lies there."""
        pages = (
            _client(self.endpoint, "s3", self.root)
            .get_paginator("list_objects_v2")
            .paginate(Bucket=BUCKET, Prefix=f"{PREFIX}/{name}/")
        )
        return {file["Key"]: file["Size"] for page in pages for file in page.get("Contents", [])}

    def download(self, folder: Path) -> None:
        """Copy everything in the bucket into a folder."""
        client = _client(self.endpoint, "s3", self.root)
        for page in client.get_paginator("list_objects_v2").paginate(Bucket=BUCKET):
            for file in page.get("Contents", []):
                (folder / file["Key"]).parent.mkdir(parents=True, exist_ok=True)
                client.download_file(BUCKET, file["Key"], str(folder / file["Key"]))


@contextmanager
def s3_server() -> Iterator[S3]:
    """A server with an empty bucket, thrown away afterwards."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    endpoint = f"http://127.0.0.1:{port}"
    moto = [sys.executable, "-c", "from moto.server import main; main()"]
    process = subprocess.Popen(
        [*moto, "-H", "127.0.0.1", "-p", str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        _wait_for(endpoint, process)
        # nobody has rights before there are users: so far the server asks for none
        anyone = _environment(endpoint, "nobody", "nothing")
        location = {"LocationConstraint": REGION}
        _client(endpoint, "s3", anyone).create_bucket(
            Bucket=BUCKET, CreateBucketConfiguration=location
        )
        every = {"Effect": "Allow", "Action": "*", "Resource": "*"}
        everything = json.dumps({"Version": "2012-10-17", "Statement": [every]})
        users = {
            name: _user(endpoint, anyone, name, policy)
            for name, policy in (
                ("root", everything),
                ("writer", rights("bucket_writer.json")),
                ("reader", rights("bucket_reader.json")),
            )
        }
        # from here on it asks everybody
        plain = {"Content-Type": "text/plain"}
        asked = urllib.request.Request(f"{endpoint}/moto-api/reset-auth", b"0", plain)
        urllib.request.urlopen(asked).close()
        yield S3(endpoint, process.pid, **users)
    finally:
        process.kill()
        process.wait()


def rights(name: str) -> str:
    """A policy of sql/lake/rights for the bucket of the tests."""
    text = (Path(lake.__file__).parent / "rights" / name).read_text(encoding="utf-8")
    policy = json.loads(text.replace("BUCKET", BUCKET).replace("PREFIX", PREFIX))
    if "s3:DeleteObject" in text:
        # where many files are deleted at once, this server asks for the right to the bucket, AWS
        # for the right to each file
        bucket = f"arn:aws:s3:::{BUCKET}"
        policy["Statement"].append(
            {"Effect": "Allow", "Action": "s3:DeleteObject", "Resource": bucket}
        )
    return json.dumps(policy)


def _user(endpoint: str, anyone: dict[str, str], name: str, policy: str) -> dict[str, str]:
    iam = _client(endpoint, "iam", anyone)
    iam.create_user(UserName=name)
    iam.put_user_policy(UserName=name, PolicyName="rights", PolicyDocument=policy)
    key = iam.create_access_key(UserName=name)["AccessKey"]
    return _environment(endpoint, key["AccessKeyId"], key["SecretAccessKey"])


def _environment(endpoint: str, key_id: str, secret: str) -> dict[str, str]:
    return {
        "AWS_ACCESS_KEY_ID": key_id,
        "AWS_SECRET_ACCESS_KEY": secret,
        "AWS_REGION": REGION,
        "AWS_ENDPOINT_URL": endpoint,
    }


def _client(endpoint: str, service: str, environment: dict[str, str]) -> Any:
    return boto3.client(
        service,
        endpoint_url=endpoint,
        region_name=REGION,
        aws_access_key_id=environment["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=environment["AWS_SECRET_ACCESS_KEY"],
    )


def _wait_for(endpoint: str, process: subprocess.Popen) -> None:
    deadline = time.monotonic() + 60
    while True:
        try:
            urllib.request.urlopen(f"{endpoint}/moto-api/", timeout=5).close()
            return
        except (urllib.error.URLError, OSError):
            assert process.poll() is None, "the S3 server did not start"
            assert time.monotonic() < deadline, "the S3 server does not answer"
            time.sleep(0.1)
