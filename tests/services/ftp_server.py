"""An FTP server over a directory: `ftp_server.py PORT FOLDER`. The user is `etl`, the password that of the tests."""

import sys

from pyftpdlib.authorizers import DummyAuthorizer
from pyftpdlib.handlers import FTPHandler
from pyftpdlib.servers import ThreadedFTPServer

PASSWORD = "planted-password-77aa"

if __name__ == "__main__":
    authorizer = DummyAuthorizer()
    authorizer.add_user("etl", PASSWORD, sys.argv[2], perm="elradfmwMT")
    FTPHandler.authorizer = authorizer
    ThreadedFTPServer(("127.0.0.1", int(sys.argv[1])), FTPHandler).serve_forever()
