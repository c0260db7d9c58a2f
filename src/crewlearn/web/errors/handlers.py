"""Error responses: problem documents for programs, pages for browsers."""

from collections.abc import Mapping
from http import HTTPStatus
from urllib.parse import quote

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, RedirectResponse, Response
from starlette.exceptions import HTTPException

from crewlearn.advisor.ledger.errors import RETRY_SECONDS, Overloaded
from crewlearn.problem.errors import InvalidInput
from crewlearn.web.errors import validation
from crewlearn.web.errors.problems import MEDIA_TYPE, FieldError, ProblemDocument, of_error, problem, shown
from crewlearn.web.rendering import page


def install(app: FastAPI) -> None:
    """Make an application respond to every error with a problem."""

    @app.exception_handler(InvalidInput)
    def invalid(request: Request, error: InvalidInput) -> Response:
        in_path = [str(value) for value in request.path_params.values()]
        headers = {"Retry-After": str(RETRY_SECONDS)} if isinstance(error, Overloaded) else None
        return answer(request, of_error(error, in_path, reading=request.method == "GET"), headers)

    @app.exception_handler(RequestValidationError)
    def unreadable(request: Request, error: RequestValidationError) -> Response:
        document = app.openapi()
        operation = validation.operation_of(document, request.scope.get("route"))
        listed = []
        for violation in error.errors():
            field, remedy = validation.remedy_of(document, operation, violation)
            value = None if violation["type"] in ("missing", "json_invalid") else shown(violation.get("input"))
            listed.append(FieldError(field=field, value=value, remedy=remedy))
        detail = "; ".join(f"{field_error.field}: {field_error.remedy}" for field_error in listed[:5])
        return answer(request, problem(422, detail or "the request cannot be read", listed))

    @app.exception_handler(HTTPException)
    def refused(request: Request, error: HTTPException) -> Response:
        if error.status_code == HTTPStatus.UNAUTHORIZED and wants_page(request) and request.method == "GET":
            return RedirectResponse(f"/sign-in{_next_query(request)}", HTTPStatus.SEE_OTHER)
        return answer(request, _of_refusal(request, error), error.headers)


def answer(request: Request, document: ProblemDocument, headers: Mapping[str, str] | None = None) -> Response:
    """Return a problem as a document for a program and as a page for a person."""
    if wants_page(request):
        return page(request, "layout/problem.html", {"problem": document}, document.status, headers)
    content = document.model_dump(exclude_none=True)
    return JSONResponse(content, document.status, headers, media_type=MEDIA_TYPE)


def wants_page(request: Request) -> bool:
    """Return whether the request comes from a person's browser."""
    return not request.scope["path"].startswith("/api/") and "text/html" in request.headers.get("accept", "")


def _of_refusal(request: Request, error: HTTPException) -> ProblemDocument:
    """Describe a refusal, replacing the framework's own wording by ours."""
    detail = str(error.detail)
    if detail == "There was an error parsing the body":
        remedy = "must be JSON that can be read: nested less deep, with shorter numbers"
        return problem(error.status_code, f"body: {remedy}", [FieldError(field="body", remedy=remedy)])
    if detail == HTTPStatus(error.status_code).phrase:
        detail = {404: "There is nothing at this address.", 405: f"This address takes no {request.method}."}.get(
            error.status_code, detail
        )
    return problem(error.status_code, detail)


def _next_query(request: Request) -> str:
    """Return the query string that makes the sign-in page lead to the requested page."""
    asked = quote(request.scope["path"])
    if request.scope["query_string"]:
        asked += "?" + request.scope["query_string"].decode("latin-1")
    return "" if asked == "/" else f"?next={quote(asked)}"
