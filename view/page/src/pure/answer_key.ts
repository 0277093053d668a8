// SPDX-License-Identifier: BSD-3-Clause
// One spelling of each question, for the cache and for the answers inside a file: the path, then the
// parameters in alphabetical order, with run= always there except for /api/runs.

export type Parameters = Record<string, string | number | null | undefined>;

export function answerKey(path: string, parameters: Parameters): string {
  const given = Object.entries(parameters).filter(([, value]) => value !== null && value !== undefined && value !== '');
  given.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  const query = given.map(([name, value]) => `${name}=${encodeURIComponent(String(value)).replace(/%2C/g, ',')}`).join('&');
  return query ? `${path}?${query}` : path;
}

/** The bytes of a base64 text. */
export function fromBase64(text: string): ArrayBuffer {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let at = 0; at < binary.length; ++at) bytes[at] = binary.charCodeAt(at);
  return bytes.buffer;
}
