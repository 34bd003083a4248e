"""The OpenSearch description, with which browsers offer a search of this server."""

from fastapi import APIRouter, Request, Response

from server.addresses import public_address
from server.html.pages import CHECKED, Reader, rendered
from server.services import Shared

router = APIRouter(include_in_schema=False)


@router.get("/opensearch.xml")
async def opensearch(request: Request, services: Shared) -> Response:
    """Return the description (OpenSearch 1.1, draft 6) in the reader's language; `?hl=` chooses one.

    Addresses start with the setting `public_url`. Without it, they start with the host of the request, which
    the entrance has checked, and the answer may not be cached by others.
    """
    reader = Reader.of(request)
    content = rendered(
        "opensearch.xml",
        lang=reader.language,
        opensearch_about=reader.words["opensearch_about"],
        public=public_address(services.server, request),
    )
    headers = {"Cache-Control": f"private, {CHECKED}", "Vary": "Accept-Language, Cookie"}
    return Response(content, media_type="application/opensearchdescription+xml", headers=headers)
