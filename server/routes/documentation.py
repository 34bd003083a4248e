"""`/docs`: interactive documentation of the API, from files that come with the server."""

from importlib.resources import files
from pathlib import Path

from fastapi import APIRouter
from fastapi.responses import FileResponse, HTMLResponse

from server.html.page_files import page_files
from server.html.pages import rendered

router = APIRouter(include_in_schema=False)

SWAGGER = Path(str(files("fastapi_swagger") / "resources"))


@router.get("/docs")
async def documentation() -> HTMLResponse:
    """Show the description of the API."""
    return HTMLResponse(rendered("docs.html", base=page_files().base))


@router.get("/docs/swagger-ui.css")
async def style() -> FileResponse:
    """Send the style sheet."""
    return FileResponse(SWAGGER / "swagger-ui.css")


@router.get("/docs/swagger-ui-bundle.js")
async def bundle() -> FileResponse:
    """Send the script."""
    return FileResponse(SWAGGER / "swagger-ui-bundle.js")
