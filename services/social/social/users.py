"""Users, stored in `social.users`, with one pool for writes and one for reads."""

from dataclasses import dataclass
from datetime import date
from typing import Protocol

import asyncpg

from .settings import Settings


@dataclass(frozen=True)
class User:
    first_name: str
    second_name: str
    birthdate: date
    biography: str
    city: str


class Users(Protocol):
    """Database operations of the routes."""

    async def of(self, id: int) -> User | None: ...
    async def named(self, first: str, second: str) -> list[tuple[int, User]]: ...
    async def add(self, user: User, password: str) -> int: ...
    async def password(self, id: int) -> str | None: ...
    def stats(self) -> dict[str, dict[str, int]]: ...


MOST = 100
"""Maximum number of users in the result of a search."""

COLUMNS = "id, first_name, second_name, birthdate, biography, city"


class Stored:
    """Users of a PostgreSQL server."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._writes: asyncpg.Pool | None = None
        self._reads: asyncpg.Pool | None = None

    async def open(self) -> None:
        self._writes = self._pool(self._settings.database)
        self._reads = self._writes
        if self._settings.read_database:
            self._reads = self._pool(self._settings.read_database)
        # A pool must be opened before use; opening succeeds without a server, too.
        for pool in {self._writes, self._reads}:
            await pool

    async def close(self) -> None:
        for pool in {self._writes, self._reads} - {None}:
            await pool.close()

    def _pool(self, address: str) -> asyncpg.Pool:
        return asyncpg.create_pool(
            address,
            min_size=0,
            max_size=self._settings.pool_size,
            command_timeout=self._settings.timeout,
            timeout=self._settings.timeout or 60,
            statement_cache_size=100 if self._settings.prepare else 0,
        )

    async def of(self, id: int) -> User | None:
        row = await self._reads.fetchrow(f"SELECT {COLUMNS} FROM social.users WHERE id = $1", id)
        return row and _user(row)

    async def named(self, first: str, second: str) -> list[tuple[int, User]]:
        rows = await self._reads.fetch(
            f"SELECT {COLUMNS} FROM social.users WHERE second_name LIKE $1 AND first_name LIKE $2 ORDER BY id LIMIT {MOST}",
            _beginning(second),
            _beginning(first),
        )
        return [(row["id"], _user(row)) for row in rows]

    async def add(self, user: User, password: str) -> int:
        return await self._writes.fetchval(
            "INSERT INTO social.users (first_name, second_name, birthdate, biography, city, password)"
            " VALUES ($1, $2, $3, $4, $5, $6) RETURNING id",
            *(user.first_name, user.second_name, user.birthdate, user.biography, user.city, password),
        )

    async def password(self, id: int) -> str | None:
        # Reads from the primary, so that a user who has just registered can log in.
        return await self._writes.fetchval("SELECT password FROM social.users WHERE id = $1", id)

    def stats(self) -> dict[str, dict[str, int]]:
        pools = {"pool": self._writes}
        if self._reads is not self._writes:
            pools["read_pool"] = self._reads
        return {
            name: {
                "size": it.get_max_size(),
                "busy": it.get_size() - it.get_idle_size(),
                "idle": it.get_idle_size(),
            }
            for name, it in pools.items()
        }


def _user(row: asyncpg.Record) -> User:
    return User(*(row[name] for name in COLUMNS.split(", ")[1:]))


def _beginning(text: str) -> str:
    """Pattern of texts that begin with this text, with its special characters escaped."""
    for special in "\\%_":
        text = text.replace(special, "\\" + special)
    return text + "%"
