"""`/docs`: interactive documentation of the API, from files that come with the server."""

from importlib.resources import files
from pathlib import Path

from fastapi import APIRouter
from fastapi.responses import FileResponse, HTMLResponse

from server.html.page_files import page_files

router = APIRouter(include_in_schema=False)

SWAGGER = Path(str(files("fastapi_swagger") / "resources"))
PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>SHRAG API</title>
<link rel="icon" href=".{base}/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="docs/swagger-ui.css">
<link rel="stylesheet" href=".{base}/docs.css">
</head>
<body>
<div id="swagger-ui"></div>
<script src="docs/swagger-ui-bundle.js"></script>
<script src=".{base}/docs.js"></script>
</body>
</html>
"""


@router.get("/docs")
async def documentation() -> HTMLResponse:
    """Show the description of the API."""
    return HTMLResponse(PAGE.format(base=page_files().base))


@router.get("/docs/swagger-ui.css")
async def style() -> FileResponse:
    """Send the style sheet."""
    return FileResponse(SWAGGER / "swagger-ui.css")


@router.get("/docs/swagger-ui-bundle.js")
async def bundle() -> FileResponse:
    """Send the script."""
    return FileResponse(SWAGGER / "swagger-ui-bundle.js")
