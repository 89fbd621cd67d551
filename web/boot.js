// Asks for what every page needs first, applies the theme that was asked for or chosen before, then starts the program.
// External, because the page allows no inline scripts. A module in the head runs after parsing and before the program
// paints anything.

import init from './trainscope_web.js';
import { pages } from './packs.js';

// These answers are there when the program starts; asked for by it, they would come after the first layout. The notes
// follow the runs: the live stream tells what changes after the list of runs was made.
const ask = async (path) => {
  try {
    const answer = await fetch(path);
    return answer.ok ? await answer.arrayBuffer() : undefined;
  } catch {
    // The program asks again, and says what is wrong.
    return undefined;
  }
};
// Pages about many runs have one segment; without one, it is the list of runs.
const [, run, page] = /\/run\/(.*?)([^/]*)\/?$/.exec(location.pathname) ?? [];
const site = location.pathname.split('/').pop();
const early = new Map();
if (run === undefined && site === 'lineage') early.set('/api/table/columns', ask('api/table/columns'));
const runs = ask('api/runs');
early.set('/api/status', ask('api/status'));
early.set('/api/runs', runs);
early.set('/api/notebook', runs.then(() => ask('api/notebook')));
window.takeEarly = (path) => {
  const body = early.get(path);
  early.delete(path);
  return body;
};

const asked = new URLSearchParams(location.search).get('theme');
let remembered = null;
try {
  remembered = localStorage.getItem('trainscope.theme');
} catch {
  // Storage is switched off: the system decides.
}
const theme = asked ?? remembered;
if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;

const link = (rel, file) => {
  const element = document.createElement('link');
  Object.assign(element, { rel, as: 'fetch', crossOrigin: '' });
  element.href = new URL(file, import.meta.url).href;
  document.head.append(element);
};
// The code of the page that is opened comes together with the program, which would ask for it when it has started.
const shared = { images: 'recorded', text: 'recorded', pr_curves: 'recorded' };
const part = run === undefined ? (site in pages ? site : 'runs') : (shared[page] ?? page);
for (const file of pages[part] ?? pages.overview) link('preload', file);
await init({ module_or_path: new URL('./trainscope_web_bg.wasm', import.meta.url) });
// Two seconds later, the code of all other pages goes into the browser's cache. It is compiled when its page is opened.
setTimeout(() => {
  for (const file of new Set(Object.values(pages).flat())) link('prefetch', file);
}, 2000);
