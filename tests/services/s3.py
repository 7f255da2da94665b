"""The S3 server that tests start: moto, which keeps its buckets in memory."""

import sys
import tempfile
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

from tests.services.processes import accepts, free_port, start, stop, wait_until

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SECRET_KEY: Final = "planted-secret-key-5d11"
"""No output, file or plan may show it."""
JARS: Final = ("org.apache.hadoop:hadoop-aws:3.4.2", "org.apache.spark:spark-hadoop-cloud_2.13:4.1.2")
SDK: Final = "software.amazon.awssdk:bundle:2.29.52"


@dataclass(eq=False)
class Store:
    """A running server, and a client that owes nothing to Penstock or Hadoop."""

    endpoint: str
    client: Any

    def bucket(self) -> "S3Path":
        """A new, empty bucket."""
        name = f"bucket-{uuid.uuid4().hex[:8]}"
        self.client.create_bucket(Bucket=name)
        return s3_path(self.client, f"s3a://{name}")

    @property
    def settings(self) -> dict[str, str]:
        """How Hadoop reaches the server."""
        return {
            "fs.s3a.endpoint": self.endpoint,
            "fs.s3a.endpoint.region": "us-east-1",
            "fs.s3a.path.style.access": "true",
            "fs.s3a.access.key": "key",
            "fs.s3a.secret.key": SECRET_KEY,
        }


class S3Path(str):
    """A location in a bucket, with the calls of a `Path` that the shared suite makes."""

    client: Any

    def __truediv__(self, name: str) -> "S3Path":
        return s3_path(self.client, f"{self}/{name}")

    @property
    def bucket(self) -> str:
        return self.split("/", 3)[2]

    def keys(self) -> list[str]:
        """The keys of all objects below this location, by their path in it; sorted."""
        prefix = "".join(f"{part}/" for part in self.split("/", 3)[3:])
        pages = self.client.get_paginator("list_objects_v2").paginate(Bucket=self.bucket, Prefix=prefix)
        return sorted(entry["Key"][len(prefix) :] for page in pages for entry in page.get("Contents", ()))

    def exists(self) -> bool:
        return bool(self.keys())

    def children(self) -> list[str]:
        return sorted({key.split("/")[0] for key in self.keys()})

    def read(self, key: str) -> bytes:
        prefix = "".join(f"{part}/" for part in self.split("/", 3)[3:])
        content: bytes = self.client.get_object(Bucket=self.bucket, Key=f"{prefix}{key}")["Body"].read()
        return content

    def write(self, key: str, text: str) -> None:
        self.client.put_object(Bucket=self.bucket, Key=key, Body=text.encode())

    def delete(self, key: str) -> None:
        self.client.delete_object(Bucket=self.bucket, Key=key)

    def uploads(self) -> list[str]:
        """The keys of unfinished multipart uploads in the bucket."""
        found = self.client.list_multipart_uploads(Bucket=self.bucket)
        return [upload["Key"] for upload in found.get("Uploads", ())]


def s3_path(client: Any, text: str) -> S3Path:
    made = S3Path(text)
    made.client = client
    return made


@pytest.fixture(scope="session")
def s3() -> Iterator[Store]:
    import boto3

    with tempfile.TemporaryDirectory(prefix="penstock-s3-") as folder:
        log, port = Path(folder) / "log", free_port()
        process = start([sys.executable, str(Path(__file__).with_name("s3_server.py")), str(port)], log)
        try:
            wait_until(lambda: accepts(port), process, log)
            endpoint = f"http://127.0.0.1:{port}"
            keys = {"aws_access_key_id": "key", "aws_secret_access_key": SECRET_KEY, "region_name": "us-east-1"}
            yield Store(endpoint, boto3.client("s3", endpoint_url=endpoint, **keys))
        finally:
            stop(process)


@pytest.fixture(scope="session")
def s3_spark(spark: "SparkSession") -> "SparkSession":
    """The shared session, with the jars of S3. That of Amazon's SDK, 640 MB, is only put on the driver's class path, on
    which the tasks of a local session are too: Spark would copy it for them."""
    from engine.spark.starting.jars import add_alone, jar_files

    jvm: Any = spark.sparkContext._jvm
    for path in jar_files(spark, SDK):
        jvm.Thread.currentThread().getContextClassLoader().addURL(jvm.java.io.File(path).toURI().toURL())

    for jar in JARS:
        add_alone(spark, jar)
    return spark
