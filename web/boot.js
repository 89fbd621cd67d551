// Starts the browser program; a file of its own, because inline scripts are forbidden by the page's policy.
import init from "./trainscope_web.js";

await init({ module_or_path: new URL("trainscope_web_bg.wasm", import.meta.url) });
