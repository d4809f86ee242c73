"""Settings, read from the environment."""

from collections.abc import Mapping
from dataclasses import dataclass


class WrongSettings(Exception):
    """All errors in one text, without the address, which may contain a password."""


@dataclass(frozen=True)
class Settings:
    address: str  # host:port
    database: str  # as libpq takes it; a password comes from PGPASSWORD or a password file
    read_database: str | None  # of a replica: where users are read from
    workers: int  # processes
    pool_size: int  # connections of one process, for each address
    timeout: float | None  # of one statement, seconds
    prepare: bool  # statements are prepared once per connection
    password_rounds: int  # of PBKDF2, for new passwords
    secret: bytes  # signs tokens; the same in all workers


def settings(environment: Mapping[str, str]) -> Settings:
    wrong: list[str] = []

    def whole(name: str, default: int, most: int) -> int:
        text = environment.get(name) or str(default)
        if text.isascii() and text.isdigit() and 1 <= int(text) <= most:
            return int(text)
        wrong.append(f"{name}={text}: write a whole number from 1 to {most}")
        return default

    def seconds(name: str, default: str) -> float | None:
        text = environment.get(name) or default
        for unit, factor in (("ms", 1e-3), ("s", 1.0)):
            number = text.removesuffix(unit)
            if text.endswith(unit) and number.replace(".", "", 1).isdigit():
                return float(number) * factor or None
        wrong.append(f"{name}={text}: write a duration such as 300ms, or 0s for none")
        return None

    def yes(name: str, default: str) -> bool:
        text = environment.get(name) or default
        if text not in ("true", "false"):
            wrong.append(f"{name}={text}: write true or false")
        return text == "true"

    made = Settings(
        address=environment.get("ADDRESS") or "127.0.0.1:8080",
        database=environment.get("DATABASE_URL", ""),
        read_database=environment.get("READ_DATABASE_URL") or None,
        workers=whole("WORKERS", 1, 64),
        pool_size=whole("POOL_SIZE", 10, 10_000),
        timeout=seconds("QUERY_TIMEOUT", "5s"),
        prepare=yes("PREPARE", "true"),
        password_rounds=whole("PASSWORD_ROUNDS", 1000, 10_000_000),
        secret=environment.get("TOKEN_SECRET", "").encode(),
    )
    if wrong:
        raise WrongSettings("; ".join(wrong))
    return made
