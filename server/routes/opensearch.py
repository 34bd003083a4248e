"""The OpenSearch description, with which browsers offer a search of this server."""

import xml.etree.ElementTree as ET

from fastapi import APIRouter, Request, Response

from server.addresses import public_address
from server.html.page_files import page_files
from server.html.pages import CHECKED, Reader
from server.services import Shared

router = APIRouter(include_in_schema=False)

XMLNS = "http://a9.com/-/spec/opensearch/1.1/"
MEDIA_TYPE = "application/opensearchdescription+xml"


@router.get("/opensearch.xml")
async def opensearch(request: Request, services: Shared) -> Response:
    """Return the description (OpenSearch 1.1, draft 6) in the reader's language; `?hl=` chooses one.

    Addresses start with the setting `public_url`. Without it, they start with the host of the request, which
    the entrance has checked, and the answer may not be cached by others.
    """
    reader, public = Reader.of(request), public_address(services.server, request)
    described = ET.Element("OpenSearchDescription", {"xmlns": XMLNS})
    texts = {
        "ShortName": "SHRAG",
        "Description": page_files().words[reader.language]["opensearch_about"],
        "InputEncoding": "UTF-8",
        "OutputEncoding": "UTF-8",
        "Language": reader.language,
    }
    for tag, text in texts.items():
        ET.SubElement(described, tag).text = text
    own = f"{public}/opensearch.xml?hl={reader.language}"
    ET.SubElement(described, "Url", {"type": "text/html", "template": f"{public}/?q={{searchTerms}}"})
    ET.SubElement(described, "Url", {"type": MEDIA_TYPE, "rel": "self", "template": own})
    icon = ET.SubElement(described, "Image", {"type": "image/svg+xml", "width": "64", "height": "64"})
    icon.text = f"{public}/page/icon/icon.svg"
    headers = {"Cache-Control": f"private, {CHECKED}", "Vary": "Accept-Language, Cookie"}
    content: bytes = ET.tostring(described, "utf-8", xml_declaration=True)
    return Response(content, media_type=MEDIA_TYPE, headers=headers)
