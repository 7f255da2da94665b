"""The S3 server of the tests: `python s3_server.py PORT`.

moto keeps the buckets. Completing an upload that was aborted is `NoSuchUpload` here, as S3 has it; moto fails with 500.
"""

import logging
import sys
from typing import Any

from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from moto.s3.exceptions import NoSuchUpload
from moto.s3.models import S3Backend
from werkzeug.serving import run_simple

complete = S3Backend.complete_multipart_upload


def complete_known(self: S3Backend, bucket_name: str, multipart_id: str, *arguments: Any, **named: Any) -> Any:
    if multipart_id not in self.get_bucket(bucket_name).multiparts:
        raise NoSuchUpload(upload_id=multipart_id)
    return complete(self, bucket_name, multipart_id, *arguments, **named)


if __name__ == "__main__":
    S3Backend.complete_multipart_upload = complete_known  # type: ignore[method-assign]
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    run_simple("127.0.0.1", int(sys.argv[1]), DomainDispatcherApplication(create_backend_app), threaded=True)
