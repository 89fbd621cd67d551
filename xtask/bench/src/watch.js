// Runs in each page before its own scripts, and keeps what the bench asks for in `bench`: when something was painted,
// how long each frame took, when the last request ended.
const bench = (window.bench = {
  frames: [],
  painted: [],
  pressed: 0,
  released: 0,
  drawn: 0,
  answered: 0,
  asked: 0,
  pending: 0,
  memory: null,
});

// The page has its own frames; those of this script are the browser's.
const { requestAnimationFrame: browsersFrame } = window;
const requestAnimationFrame = (act) => browsersFrame.call(window, act);

// The moment after the paint of the frame that is being made: a message is handled when the frame is done, unless the
// browser begins the next frame before it.
const afterFrame = (done) => {
  let isDone = false;
  const once = () => {
    if (!isDone) done(performance.now());
    isDone = true;
  };
  const channel = new MessageChannel();
  channel.port1.onmessage = once;
  channel.port2.postMessage(0);
  requestAnimationFrame(once);
};

// The moment after the paint that follows.
const afterPaint = (done) => requestAnimationFrame(() => afterFrame(done));

// What somebody waits for is looked at when a frame begins and after each thing that the page does in it: where it is
// there, that frame paints it.
const awaited = new Set();
const look = () => {
  for (const one of awaited) {
    if (one.isThere()) {
      awaited.delete(one);
      afterFrame(one.done);
    }
  }
};
const lookInEachFrame = () => {
  look();
  if (awaited.size) requestAnimationFrame(lookInEachFrame);
};
let isInFrame = false;
window.requestAnimationFrame = (act) =>
  requestAnimationFrame((now) => {
    isInFrame = true;
    act(now);
    isInFrame = false;
    look();
  });

// The moment after the first paint in which something is there.
bench.firstPaint = (isThere) =>
  new Promise((done) => {
    if (!awaited.size) requestAnimationFrame(lookInEachFrame);
    awaited.add({ isThere, done });
  });

// A curve has colour, in most columns of a strip beside the y axis; frame, grid and text are grey, and envelopes pale. A
// whole canvas would take longer to read, again and again, than the page takes to draw it.
const isCurve = (canvas) => {
  const width = Math.floor(canvas.width * 0.05);
  if (!width || !canvas.height) return false;
  const { data } = canvas
    .getContext("2d")
    .getImageData(canvas.width * 0.15, 0, width, canvas.height);
  const columns = new Set();
  for (let at = 0; at < data.length; at += 4) {
    const most = Math.max(data[at], data[at + 1], data[at + 2]);
    const least = Math.min(data[at], data[at + 1], data[at + 2]);
    if (((most - least) * data[at + 3]) / 255 > 40) columns.add((at / 4) % width);
  }
  return columns.size > width / 2;
};
const hasCurve = () => [...document.querySelectorAll("canvas[role=img]")].some(isCurve);

// From an event, by the browser's own clock, to the paint that follows it.
for (const type of ["keydown", "click"]) {
  window.addEventListener(
    type,
    (event) => {
      bench.pressed = event.timeStamp;
      afterPaint((now) => bench.painted.push(now - event.timeStamp));
    },
    { capture: true },
  );
}

// The end of a drag, by the browser's own clock.
window.addEventListener("pointerup", (event) => (bench.released = event.timeStamp), { capture: true });

// Plots are drawn over a cleared canvas, or as pixels: the last drawing of one is the picture that stays.
for (const name of ["clearRect", "putImageData"]) {
  const draw = CanvasRenderingContext2D.prototype[name];
  CanvasRenderingContext2D.prototype[name] = function (...all) {
    const after = isInFrame ? afterFrame : afterPaint;
    if (this.canvas.getAttribute("role") === "img") after((now) => (bench.drawn = now));
    return draw.apply(this, all);
  };
}

const { fetch } = window;
window.fetch = async (...request) => {
  bench.asked++;
  bench.pending++;
  try {
    return await fetch(...request);
  } finally {
    bench.pending--;
    bench.answered = performance.now();
  }
};

const { instantiateStreaming } = WebAssembly;
WebAssembly.instantiateStreaming = async (...source) => {
  const made = await instantiateStreaming.apply(WebAssembly, source);
  // The parts of the program that are loaded later import the memory of the first one.
  bench.memory ??= made.instance.exports.memory;
  return made;
};

// Frames from now on, in milliseconds from one to the next.
bench.watchFrames = () => {
  bench.frames = [];
  bench.isWatching = true;
  let last = null;
  const frame = (now) => {
    if (last !== null) bench.frames.push(now - last);
    last = now;
    if (bench.isWatching) requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
};
bench.stopFrames = () => {
  bench.isWatching = false;
  return bench.frames;
};

// Scrolls an element down by so many pixels a frame until the time is over; its frames.
bench.scroll = (selector, pixels, millis) =>
  new Promise((done) => {
    const element = document.querySelector(selector);
    const begun = performance.now();
    let down = pixels;
    bench.watchFrames();
    const frame = () => {
      const before = element.scrollTop;
      element.scrollTop += down;
      if (element.scrollTop === before) down = -down;
      if (performance.now() - begun < millis) requestAnimationFrame(frame);
      else done(bench.stopFrames());
    };
    requestAnimationFrame(frame);
  });

// The milliseconds from the last event to the last drawing, once nothing was asked for or drawn for a while; where the
// event leads to a drawing, not before there was one.
bench.quiet = (millis, draws) =>
  new Promise((done) => {
    const look = () => {
      const last = Math.max(bench.drawn, bench.answered, bench.pressed);
      const isOver = bench.pending === 0 && performance.now() - last > millis;
      if (isOver && (!draws || bench.drawn > bench.pressed)) done(bench.drawn - bench.pressed);
      else setTimeout(look, 20);
    };
    look();
  });

// The milliseconds from the next key to the paint in which all elements that a selector finds hold a text.
bench.shows = async (selector, text) => {
  const before = bench.pressed;
  const now = await bench.firstPaint(() => {
    const found = [...document.querySelectorAll(selector)];
    const isLeft = (one) => one.textContent.includes(text);
    return bench.pressed !== before && found.length && found.every(isLeft);
  });
  return now - bench.pressed;
};
