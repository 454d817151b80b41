// The record inside the page: JSON, of which the events of large records are compressed.

async function readRecord(text) {
  const data = JSON.parse(text);
  const events =
    typeof data.packed === 'string' ? await unpack(data.packed) : data.events;
  return { header: data.header, events };
}

/** Reads lines of JSON that were compressed and written in Base64. */
async function unpack(packed) {
  if (typeof DecompressionStream === 'undefined') {
    throw new Error(
      'this browser cannot decompress the record; use one from 2023 or later',
    );
  }

  const bytes = Uint8Array.from(atob(packed), (character) => character.charCodeAt(0));
  const stream = new Blob([bytes])
    .stream()
    .pipeThrough(new DecompressionStream('deflate-raw'));
  const lines = await new Response(stream).text();
  return lines
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
}
