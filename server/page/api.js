// Calls to the server: JSON, problem details, event streams.

const SILENCE_MS = 60_000; // time without data in a stream; the server sends a comment every 15 seconds

/** An error reported by the server; `code` is stable. */
export class Problem extends Error {
  constructor(described) {
    super(described.detail ?? described.code);
    Object.assign(this, described);
  }
}

async function send(path, { method, body, signal, accept = "application/json" } = {}) {
  const headers = { Accept: accept };
  if (body !== undefined) headers["Content-Type"] = "application/json";
  let response;
  try {
    response = await fetch(path, {
      method: method ?? (body === undefined ? "GET" : "POST"),
      headers,
      body: body === undefined ? undefined : JSON.stringify(body),
      signal,
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem({ code: "offline", status: 0 });
  }
  if (response.ok) return response;
  const described = await response.json().catch(() => ({}));
  const wait = Number(response.headers.get("Retry-After")) || undefined;
  throw new Problem({ retry_after_s: wait, code: `http-${response.status}`, ...described, status: response.status });
}

/** Call the server and return its JSON, or undefined if the body is empty. */
export async function call(path, options) {
  const response = await send(path, options);
  return response.status === 204 ? undefined : response.json();
}

/** Call the server for a file. */
export const download = async (path, options) => (await send(path, { accept: "*/*", ...options })).blob();

/** Yield the events of a stream as `{kind, data}`, until it ends or falls silent; leaving the loop cancels the server's work. */
export async function* events(path, body, signal) {
  const response = await send(path, { body, signal, accept: "text/event-stream" });
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let buffer = "";
  let silence;
  const read = () => {
    clearTimeout(silence);
    silence = setTimeout(() => reader.cancel().catch(() => {}), SILENCE_MS);
    return reader.read();
  };
  try {
    for (;;) {
      const { value, done } = await read();
      if (done) break;
      buffer += value;
      const blocks = buffer.split("\n\n");
      buffer = blocks.pop();
      for (const block of blocks) {
        const [, kind, data] = /^event: (.*)\ndata: ([^\n]*)/.exec(block) ?? [];
        if (data) yield { kind, data: JSON.parse(data) };
      }
    }
  } catch (error) {
    if (error.name === "AbortError" || error instanceof Problem) throw error;
    throw new Problem({ code: "offline", status: 0 });
  } finally {
    clearTimeout(silence);
    reader.cancel().catch(() => {});
  }
}

/** Build a query string without empty values. */
export function query(values) {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(values))
    for (const each of Array.isArray(value) ? value : [value])
      if (each !== undefined && each !== null && each !== "" && each !== false) parameters.append(name, each);
  return parameters.toString();
}
