"""What it answers, with users that are invented and with those of a real server."""

import asyncio
import os
from dataclasses import replace
from datetime import date

import asyncpg
import pytest
from fastapi.testclient import TestClient

from social.app import app
from social.secrecy import LASTING, conceal, is_password, token, user_of
from social.settings import WrongSettings, settings
from social.users import Stored, User, _beginning

PLAIN = replace(settings({}), password_rounds=1, secret=b"of this test")
IVAN = User("Иван", "Соболев", date(1990, 5, 17), "любит поезда", "Тверь")
REGISTRATION = {**vars(IVAN), "birthdate": "1990-05-17", "password": "сезам"}


class Invented:
    """Users of a test, or a failure."""

    def __init__(self, failure: Exception | None = None) -> None:
        self.rows: dict[int, tuple[User, str]] = {}
        self.failure = failure

    def _fail(self) -> None:
        if self.failure:
            raise self.failure

    async def of(self, id: int) -> User | None:
        self._fail()
        return self.rows.get(id, (None,))[0]

    async def named(self, first: str, second: str) -> list[tuple[int, User]]:
        self._fail()
        every = ((id, user) for id, (user, _) in self.rows.items())
        return [it for it in every if it[1].first_name.startswith(first) and it[1].second_name.startswith(second)]

    async def add(self, user: User, password: str) -> int:
        self._fail()
        self.rows[len(self.rows) + 1] = (user, password)
        return len(self.rows)

    async def password(self, id: int) -> str | None:
        self._fail()
        return self.rows.get(id, (None, None))[1]

    def stats(self) -> dict[str, dict[str, int]]:
        return {"pool": {"size": 3, "busy": 2, "idle": 1}}


def walk(client: TestClient) -> None:
    """Registers, finds, logs in, and uses the token."""
    made = client.post("/user/register", json=REGISTRATION)
    assert made.status_code == 201, made.text
    id = made.json()["id"]
    expected = {"id": id, **vars(IVAN), "birthdate": "1990-05-17"}
    assert client.get(f"/user/get/{id}").json() == expected
    found = client.get("/user/search", params={"first_name": "Ив", "last_name": "Соб"}).json()
    assert expected in found
    assert client.get("/user/search", params={"first_name": "%", "last_name": "_"}).json() == []
    assert client.post("/login", json={"id": id, "password": "не тот"}).status_code == 401
    text = client.post("/login", json={"id": id, "password": "сезам"}).json()["token"]
    assert client.get("/user/me", headers={"Authorization": f"Bearer {text}"}).json() == expected
    assert client.get("/user/me", headers={"Authorization": f"Bearer {text}x"}).status_code == 401


def test_users_that_are_invented() -> None:
    walk(TestClient(app(PLAIN, Invented())))


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/user/get/1", 404),
        ("/user/get/99999999999999999999", 404),
        ("/user/get/x", 422),
        ("/user/search?first_name=А", 422),
        ("/user/me", 401),
        ("/health", 200),
        ("/stats", 200),
    ],
)
def test_statuses(path: str, status: int) -> None:
    assert TestClient(app(PLAIN, Invented())).get(path).status_code == status


@pytest.mark.parametrize(
    ("failure", "status"),
    [
        (asyncio.TimeoutError(), 504),
        (asyncpg.QueryCanceledError(), 504),
        (ConnectionRefusedError(), 503),
        (asyncpg.TooManyConnectionsError(), 503),
        (asyncpg.AdminShutdownError(), 503),
        (asyncpg.UndefinedTableError("secret"), 500),
    ],
)
def test_failures(failure: Exception, status: int) -> None:
    client = TestClient(app(PLAIN, Invented(failure)), raise_server_exceptions=False)
    answer = client.get("/user/get/1")
    assert answer.status_code == status
    assert "secret" not in answer.text


def test_tokens_and_passwords() -> None:
    good = token(7, 1000.0, b"a")
    assert user_of(good, 1000.0 + LASTING - 1, b"a") == 7
    for text, now, secret in [(good, 1000.0 + LASTING, b"a"), (good, 1000.0, b"b"), ("8" + good[1:], 1000.0, b"a"), ("", 0.0, b"a"), ("ы.1.x", 0.0, b"a")]:
        assert user_of(text, now, secret) is None, text
    stored = conceal("сезам", 2)
    assert is_password("сезам", stored) and not is_password("сезам ", stored)
    assert not any(is_password("", it) for it in ("", "pbkdf2$x$$", "md5$1$00$00", "pbkdf2$1$zz$00"))


def test_settings() -> None:
    made = settings({"WORKERS": "2", "POOL_SIZE": "7", "QUERY_TIMEOUT": "300ms", "PREPARE": "false", "READ_DATABASE_URL": "postgres://r/x"})
    assert (made.workers, made.pool_size, made.timeout, made.prepare, made.read_database) == (2, 7, 0.3, False, "postgres://r/x")
    assert settings({"QUERY_TIMEOUT": "0s"}).timeout is None
    with pytest.raises(WrongSettings) as told:
        settings({"WORKERS": "0", "POOL_SIZE": "many", "QUERY_TIMEOUT": "soon", "PREPARE": "maybe"})
    for name in ("WORKERS=0", "POOL_SIZE=many", "QUERY_TIMEOUT=soon", "PREPARE=maybe"):
        assert name in str(told.value)


def test_patterns() -> None:
    assert _beginning("50%_\\") == "50\\%\\_\\\\%"


TABLES = """
DROP SCHEMA IF EXISTS social CASCADE;
CREATE SCHEMA social;
CREATE TABLE social.users (
    id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
    first_name varchar(256) NOT NULL, second_name varchar(256) NOT NULL,
    birthdate date NOT NULL, biography text NOT NULL, city varchar(256) NOT NULL, password text NOT NULL);
"""


@pytest.mark.skipif("TEST_DATABASE_URL" not in os.environ, reason="TEST_DATABASE_URL is not set: ./x services test sets it")
@pytest.mark.parametrize(("replica", "prepare"), [(False, True), (True, False)])
def test_users_of_a_real_server(replica: bool, prepare: bool) -> None:
    url = os.environ["TEST_DATABASE_URL"]

    async def tables() -> None:
        connection = await asyncpg.connect(url)
        await connection.execute(TABLES)
        await connection.close()

    asyncio.run(tables())
    real = replace(PLAIN, database=url, read_database=url if replica else None, pool_size=2, prepare=prepare)
    with TestClient(app(real, Stored(real))) as client:
        walk(client)
        pools = client.get("/stats").json()
        assert set(pools) == ({"pool", "read_pool"} if replica else {"pool"})
        assert pools["pool"]["size"] == 2


def test_without_a_server() -> None:
    gone = replace(PLAIN, database="postgres://nobody@127.0.0.1:1/none")
    with TestClient(app(gone, Stored(gone)), raise_server_exceptions=False) as client:
        assert client.get("/user/get/1").status_code == 503
