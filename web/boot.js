// Applies the theme that was asked for or chosen before, then starts the program. External, because the page allows no
// inline scripts. A module in the head runs after parsing and before the program paints anything.
const asked = new URLSearchParams(location.search).get('theme');
let remembered = null;
try {
  remembered = localStorage.getItem('trainscope.theme');
} catch {
  // Storage is switched off: the system decides.
}
const theme = asked ?? remembered;
if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;

// A server that says its version has browsers keep all files of it.
const { search } = new URL(import.meta.url);
const { default: init } = await import(`./trainscope_web.js${search}`);
await init({ module_or_path: new URL(`./trainscope_web_bg.wasm${search}`, import.meta.url) });
