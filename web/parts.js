// Parts of the program, out of the files that hold many of them. `packs.js` is written by the build.

import { places } from './packs.js';

const files = new Map();

const fileOf = (name) => {
  const known = files.get(name);
  if (known) return known;
  const bytes = fetch(new URL(name, import.meta.url)).then((answer) => {
    if (!answer.ok) throw new Error(`${name}: ${answer.status}`);
    return answer.arrayBuffer();
  });
  files.set(name, bytes);
  // The next attempt to open the page asks again.
  bytes.catch(() => files.delete(name));
  return bytes;
};

export const part = async (name) => {
  const [file, from, to] = places[name];
  const bytes = await fileOf(file);
  return new Response(bytes.slice(from, to), { headers: { 'content-type': 'application/wasm' } });
};
