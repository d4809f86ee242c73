"""Authentication: stored passwords and issued tokens."""

import base64
import hashlib
import hmac
import os

LASTING = 24 * 3600
"""Lifetime of a token, in seconds."""


def conceal(password: str, rounds: int) -> str:
    """Stored form of a password: `pbkdf2$ROUNDS$SALT$HASH`."""
    salt = os.urandom(12)
    return f"pbkdf2${rounds}${salt.hex()}${_derived(password, salt, rounds).hex()}"


def is_password(password: str, stored: str) -> bool:
    try:
        scheme, rounds, salt, expected = stored.split("$")
        derived = _derived(password, bytes.fromhex(salt), int(rounds))
        return scheme == "pbkdf2" and hmac.compare_digest(derived, bytes.fromhex(expected))
    except ValueError:
        return False


def _derived(password: str, salt: bytes, rounds: int) -> bytes:
    return hashlib.pbkdf2_hmac("sha256", password.encode(), salt, rounds, 16)


def token(user: int, now: float, secret: bytes) -> str:
    told = f"{user}.{int(now) + LASTING}"
    return f"{told}.{_signed(told, secret)}"


def user_of(text: str, now: float, secret: bytes) -> int | None:
    """User of a token; `None` if the token is unknown or expired."""
    told, _, signature = text.rpartition(".")
    if not hmac.compare_digest(_signed(told, secret).encode(), signature.encode()):
        return None
    user, _, until = told.partition(".")
    return int(user) if int(until) > now else None


def _signed(told: str, secret: bytes) -> str:
    signature = hmac.new(secret, told.encode(), hashlib.sha256).digest()
    return base64.urlsafe_b64encode(signature).decode().rstrip("=")
