"""The API by nouns."""

from fastapi import APIRouter

router = APIRouter()
