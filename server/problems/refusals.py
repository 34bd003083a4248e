"""Responses to calls that are not admitted: problem details, OpenAI's format, or HTML."""

from html import escape
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.types import Scope

from server.html.pages import Reader, failed_page
from server.problems.details import problem, problem_response
from server.problems.openai_errors import error_response

OF_OPENAI = "/v1/"
PAGES = ("/plain", "/find", "/operator", "/papers/", "/doi/", "/sign-in")
# A browser that follows a link from another site omits the cookie (SameSite=Strict); this page makes it
# repeat the request with the cookie.
ASKED_AGAIN = '<!doctype html><html><head><meta http-equiv="refresh" content="0"></head></html>'
SIGN_IN = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>SHRAG</title></head><body>
{sign_in}<p lang="en">{detail}. <a href="/">Enter it on the first page</a>, then come back.</p>
<p lang="ko">이 화면을 보려면 키가 필요합니다. <a href="/">첫 화면에서 키를 입력</a>한 뒤 다시 여십시오.</p>
</body></html>
"""
AT_PROVIDER = '<p><a lang="en" href="{address}">Sign in</a> · <a lang="ko" href="{address}">로그인</a></p>\n'
UNAUTHORIZED = 401


def refusal(error: Exception, scope: Scope) -> Response:
    """Answer a call that is not admitted, in the format of its sender."""
    if scope["path"].startswith(OF_OPENAI):
        return error_response(error)
    response = problem_response(error)
    if not is_navigation(scope):
        return response
    if response.status_code == UNAUTHORIZED:
        return _for_people(error, scope, _kept(response))
    if scope["path"] == "/" or scope["path"].startswith(PAGES):
        return failed_page(Reader.of(Request(scope)), problem(error))
    return response


def _kept(response: Response) -> dict[str, str]:
    left_out = {"content-length", "content-type"}
    return {name: value for name, value in response.headers.items() if name not in left_out}


def is_navigation(scope: Scope) -> bool:
    """Check whether a browser requests a page: by GET, and accepting HTML."""
    headers = dict(scope["headers"])
    return scope["method"] == "GET" and b"text/html" in headers.get(b"accept", b"")


def _for_people(error: Exception, scope: Scope, headers: dict[str, str]) -> Response:
    site = dict(scope["headers"]).get(b"sec-fetch-site", b"")
    if site in {b"cross-site", b"same-site"}:
        return HTMLResponse(ASKED_AGAIN)
    text = str(error)
    detail = escape(text[:1].upper() + text[1:])
    sign_in = scope["state"]["services"].sign_in
    offered = ""
    if sign_in is not None and sign_in.has_provider:
        query = scope["query_string"].decode("latin-1")
        wanted = f"{scope['path']}?{query}" if query else scope["path"]
        offered = AT_PROVIDER.format(address=escape(f"/sign-in?next={quote(wanted, safe='')}"))
    return HTMLResponse(SIGN_IN.format(detail=detail, sign_in=offered), UNAUTHORIZED, headers)
