"""An SFTP server over a directory: `sftp_server.py PORT FOLDER`. The user is `etl`, the password that of the tests."""

import asyncio
import sys

import asyncssh

PASSWORD = "planted-password-77aa"


class Server(asyncssh.SSHServer):
    def begin_auth(self, username: str) -> bool:
        return True

    def password_auth_supported(self) -> bool:
        return True

    def validate_password(self, username: str, password: str) -> bool:
        return username == "etl" and password == PASSWORD


async def serve(port: int, folder: str) -> None:
    server = await asyncssh.listen(
        "127.0.0.1",
        port,
        server_factory=Server,
        server_host_keys=[asyncssh.generate_private_key("ssh-ed25519")],
        sftp_factory=lambda channel: asyncssh.SFTPServer(channel, chroot=folder),
    )
    await server.wait_closed()


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1]), sys.argv[2]))
