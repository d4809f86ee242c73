"""Routes of the service."""

import asyncio
import logging
import os
import time
from contextlib import asynccontextmanager
from datetime import date

import asyncpg
from fastapi import FastAPI, Header, HTTPException, Query, Request
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field

from .secrecy import conceal, is_password, token, user_of
from .settings import Settings, settings
from .users import Stored, User, Users

log = logging.getLogger("social")


class Registration(BaseModel):
    first_name: str = Field(min_length=1, max_length=256)
    second_name: str = Field(min_length=1, max_length=256)
    birthdate: date
    biography: str = Field(default="", max_length=10_000)
    city: str = Field(default="", max_length=256)
    password: str = Field(min_length=1, max_length=256)


class Login(BaseModel):
    id: int = Field(ge=1, le=2**63 - 1)
    password: str = Field(max_length=256)


UNREACHABLE = (OSError, asyncpg.PostgresConnectionError, asyncpg.InterfaceError, asyncpg.CannotConnectNowError,
               asyncpg.TooManyConnectionsError, asyncpg.AdminShutdownError)


def app(settings: Settings, users: Users) -> FastAPI:
    """Creates the application; opens and closes `users` with it."""

    @asynccontextmanager
    async def lifespan(_: FastAPI):
        if isinstance(users, Stored):
            await users.open()
        yield
        if isinstance(users, Stored):
            await users.close()

    it = FastAPI(lifespan=lifespan, docs_url=None, redoc_url=None, openapi_url=None)

    def told(id: int, user: User) -> dict:
        return {"id": id, **vars(user)}

    @it.get("/user/get/{id}")
    async def get(id: int) -> dict:
        if not 1 <= id < 2**63:
            raise HTTPException(404, "there is no such user")
        found = await users.of(id)
        if found is None:
            raise HTTPException(404, "there is no such user")
        return told(id, found)

    @it.get("/user/search")
    async def search(
        first_name: str = Query(min_length=1, max_length=256), last_name: str = Query(min_length=1, max_length=256)
    ) -> list[dict]:
        return [told(id, user) for id, user in await users.named(first_name, last_name)]

    @it.post("/user/register", status_code=201)
    async def register(who: Registration) -> dict:
        user = User(who.first_name, who.second_name, who.birthdate, who.biography, who.city)
        return {"id": await users.add(user, conceal(who.password, settings.password_rounds))}

    @it.post("/login")
    async def login(who: Login) -> dict:
        stored = await users.password(who.id)
        if stored is None or not is_password(who.password, stored):
            raise HTTPException(401, "there is no such user, or the password is another")
        return {"token": token(who.id, time.time(), settings.secret)}

    @it.get("/user/me")
    async def me(authorization: str = Header(default="")) -> dict:
        scheme, _, text = authorization.partition(" ")
        id = user_of(text, time.time(), settings.secret) if scheme.lower() == "bearer" else None
        found = id and await users.of(id)
        if not found:
            raise HTTPException(401, "the token is nobody's, or too old")
        return told(id, found)

    @it.get("/health")
    async def health() -> dict:
        return {"status": "up"}

    @it.get("/stats")
    async def stats() -> dict:
        return users.stats()

    @it.exception_handler(Exception)
    async def fail(_: Request, error: Exception) -> JSONResponse:
        if isinstance(error, (TimeoutError, asyncio.TimeoutError, asyncpg.QueryCanceledError)):
            return JSONResponse({"detail": "the database did not answer in time"}, 504)
        if isinstance(error, UNREACHABLE):
            return JSONResponse({"detail": "there is no connection to the database"}, 503)
        log.warning("the database refused the statement: %s", type(error).__name__)
        return JSONResponse({"detail": "the database refused the statement"}, 500)

    # Starlette calls handlers of Exception, and then raises the exception again; it does not for its own exceptions.
    for kind in (TimeoutError, *UNREACHABLE, asyncpg.PostgresError):
        it.add_exception_handler(kind, fail)
    return it


def from_environment() -> FastAPI:
    """Factory for application servers."""
    made = settings(os.environ)
    return app(made, Stored(made))
