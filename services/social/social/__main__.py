"""Starts the service under gunicorn: `python -m social`."""

import os
import secrets
import sys

from .settings import WrongSettings, settings


def main() -> None:
    try:
        made = settings(os.environ)
    except WrongSettings as wrong:
        sys.exit(f"social: error: {wrong}")
    # Every worker must accept the tokens of the others.
    os.environ.setdefault("TOKEN_SECRET", secrets.token_hex(32))
    gunicorn = ["gunicorn", "--worker-class", "uvicorn_worker.UvicornWorker", "--workers", str(made.workers)]
    where = ["--bind", made.address, "--log-level", "warning", "--worker-tmp-dir", "/dev/shm"]
    os.execv(sys.executable, [sys.executable, "-m", *gunicorn, *where, "social.app:from_environment()"])


if __name__ == "__main__":
    main()
