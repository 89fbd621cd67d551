// Parts of the program: fetches the files that hold the parts of a page, and adds those parts to the running program.
// `packs.js` and `trainscope_web.js` are written by the build.

import { head, order, pages, parts } from './packs.js';
import { initSync } from './trainscope_web.js';

// Results of work that is done once; work that failed is done again when it is asked for.
const done = new Map();

const once = (key, work) => {
  const known = done.get(key);
  if (known) return known;
  const result = work();
  done.set(key, result);
  result.catch(() => done.delete(key));
  return result;
};

const fetched = async (file) => {
  const answer = await fetch(new URL(file, import.meta.url));
  if (!answer.ok) throw new Error(`${file}: ${answer.status}`);
  return new Uint8Array(await answer.arrayBuffer());
};

const load = async (page, file, imports) => {
  const bytes = await once(file, () => fetched(file));
  const bit = 1 << order.indexOf(page);
  let from = head;
  const added = parts[file].map(([length, bits], number) => {
    const rest = bytes.subarray(from, (from += length));
    if (!(bits & bit)) return undefined;
    const part = new Uint8Array(head + length);
    part.set(bytes.subarray(0, head));
    part.set(rest, head);
    return once(`${file} ${number}`, () => WebAssembly.instantiate(part, imports));
  });
  await Promise.all(added);
};

// The function that the program calls for a page: with the index of a function to call back, and data for it.
export const loader = (page) => async (callback, data) => {
  const program = initSync(undefined, undefined);
  let isLoaded = false;
  try {
    await Promise.all(pages[page].map((file) => load(page, file, { __wasm_split: program })));
    isLoaded = true;
  } catch (error) {
    console.error(error);
  }
  program.__indirect_function_table.get(callback)(data, isLoaded);
};
