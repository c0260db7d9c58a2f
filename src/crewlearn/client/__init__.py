"""A typed client of the HTTP API: a method for each operation, with typed documents.

>>> from crewlearn.client import Client
>>> client = Client("http://127.0.0.1:8000", token="crew_…")
>>> client.get_advice.__doc__
'Return what to do in the coming period, or what the site waits for; reading changes nothing.'

`make client` writes `generated.py` from the API's own description.
"""

from crewlearn.client.generated import Client
from crewlearn.client.transport import ApiError

__all__ = ["ApiError", "Client"]
