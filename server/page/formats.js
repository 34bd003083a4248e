// The export formats of references, and their file extensions.

export const FORMATS = { ris: "RIS", bibtex: "BibTeX", "csl-json": "CSL-JSON", csv: "CSV", jsonl: "JSON Lines" };
export const ENDINGS = { ris: "ris", bibtex: "bib", "csl-json": "json", csv: "csv", jsonl: "jsonl" };
