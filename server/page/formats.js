// The export formats: files for literature managers, and documents with a reference list; and their file extensions.

export const FORMATS = { ris: "RIS", bibtex: "BibTeX", "csl-json": "CSL-JSON", csv: "CSV", jsonl: "JSON Lines" };
export const DOCUMENTS = { text: "TXT", markdown: "Markdown", docx: "Word" };
export const ENDINGS = { ris: "ris", bibtex: "bib", "csl-json": "json", csv: "csv", jsonl: "jsonl", text: "txt", markdown: "md", docx: "docx" };
