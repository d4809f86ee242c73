"""Where do users live? In `social.users`, behind one pool for writes and one for reads."""

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
    """What the routes know of the database."""

    async def of(self, id: int) -> User | None: ...
    async def named(self, first: str, second: str) -> list[tuple[int, User]]: ...
    async def add(self, user: User, password: str) -> int: ...
    async def password(self, id: int) -> str | None: ...
    def stats(self) -> dict[str, dict[str, int]]: ...


MOST = 100
"""Users that one search finds at most."""

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
        # A pool that is not begun gives no connection; without a server it begins all the same.
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
        # Of the primary: who has just registered may log in.
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
    """A pattern for what begins with the text, whatever it holds."""
    for special in "\\%_":
        text = text.replace(special, "\\" + special)
    return text + "%"
