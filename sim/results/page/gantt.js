/* The Gantt of the chosen run: GPUs from top to bottom, time from left to right. */

const bars = {spans: null, top: 0, view: null, first: 0, at: []};
const MARGIN = {left: 74, bottom: 24};

/* What the whole run covers. */
function wholeView() {
  let from = Infinity, to = -Infinity;
  for (const value of bars.spans.start_s) from = Math.min(from, value);
  for (const value of bars.spans.end_s) to = Math.max(to, value);
  return {from, to: to > from ? to : from + 1, low: 0, high: Math.max(1, bars.top)};
}

/* Jobs that share a card lie side by side: each bar (they come in the order of their starts) takes the
 * lowest lane that is free on all of its cards, and where it meets others its cards' height is parted
 * among their lanes. */
function findLanes() {
  const spans = bars.spans, there = []; /* there[card]: the bars on it just now */
  bars.lane = new Uint8Array(spans.job.length);
  bars.parts = new Uint8Array(spans.job.length).fill(1);
  for (let k = 0; k < spans.job.length; k++) {
    const first = bars.below[spans.node[k]] + spans.gpu[k], met = new Set();
    for (let card = first; card < first + spans.n[k]; card++) {
      there[card] = (there[card] ?? []).filter(other => spans.end_s[other] > spans.start_s[k]);
      there[card].forEach(other => met.add(other));
      there[card].push(k);
    }
    while ([...met].some(other => bars.lane[other] === bars.lane[k])) bars.lane[k]++;
    for (const other of met) {
      bars.parts[other] = Math.max(bars.parts[other], bars.lane[k] + 1);
      bars.parts[k] = Math.max(bars.parts[k], bars.parts[other], bars.lane[k] + 1);
    }
  }
}

function startBars() {
  const run = jobs.run;
  bars.spans = run.spans;
  bars.nodes = run.nodes;
  bars.below = [];
  bars.top = 0;
  for (const node of run.nodes) {
    bars.below.push(bars.top);
    bars.top += node[1];
  }
  const rowOf = new Map(run.jobs.job.map((job, i) => [job, i]));
  bars.row = bars.spans.job.map(job => rowOf.get(job)); /* of each bar's job in the table */
  findLanes();
  bars.view = bars.spans.job.length > 0 ? wholeView() : null;
  drawBars();
}

function drawAxes(context, width, height) {
  const {from, to, low, high} = bars.view;
  const scale = to - from > 96 * 3600 ? ["days", 86400] : to - from > 600 ? ["h", 3600] : ["s", 1];
  const zero = jobs.run.first_s;
  context.fillStyle = "#333";
  context.font = "12px sans-serif";
  context.textAlign = "center";
  for (const tick of ticksOf((from - zero) / scale[1], (to - zero) / scale[1], 8)) {
    const x = MARGIN.left + (tick * scale[1] + zero - from) / (to - from) * width;
    if (x >= MARGIN.left - 1)
      context.fillText(tickText(tick) + " " + scale[0], Math.min(x, MARGIN.left + width - 24), height + 17);
  }
  context.textAlign = "right";
  let last = -20;
  bars.below.forEach((below, node) => {
    const y = (below - low) / (high - low) * height;
    if (y < -1 || y > height || bars.nodes[node][1] === 0) return;
    context.fillRect(MARGIN.left - 4, y, 4, 1);
    if (y - last < 14) return;
    context.fillText(String(bars.nodes[node][0]).slice(0, 10), MARGIN.left - 7, y + 11);
    last = y;
  });
}

/* Calls take(left, top, width, height) for what is in sight of a bar: one box, or one a card where it
 * meets others. */
function eachBox(k, take) {
  const {from, to, low, high} = bars.view, spans = bars.spans;
  const first = bars.below[spans.node[k]] + spans.gpu[k], last = first + spans.n[k];
  if (spans.end_s[k] < from || spans.start_s[k] > to || first >= high || last <= low) return;
  const x = MARGIN.left + Math.max(0, (spans.start_s[k] - from) / (to - from) * bars.width);
  const end = MARGIN.left + Math.min(bars.width, (spans.end_s[k] - from) / (to - from) * bars.width);
  const wide = Math.max(0.6, end - x - (end - x > 4 ? 0.6 : 0));
  const gap = bars.height / (high - low) > 4 ? 1 : 0;
  const box = (top, bottom) => {
    const y = Math.max(0, (top - low) / (high - low) * bars.height);
    const below = Math.min(bars.height, (bottom - low) / (high - low) * bars.height);
    if (below > y) take(x, y, wide, Math.max(0.6, below - y - gap));
  };
  const lane = bars.lane[k], parts = bars.parts[k];
  if (parts === 1) box(first, last);
  for (let card = first; parts > 1 && card < last; card++)
    box(card + lane / parts, card + (lane + 1) / parts);
}

function drawBars() {
  const canvas = byId("bars"), sharp = window.devicePixelRatio || 1;
  canvas.width = canvas.clientWidth * sharp;
  canvas.height = canvas.clientHeight * sharp;
  const context = canvas.getContext("2d");
  context.scale(sharp, sharp);
  if (!bars.view) {
    context.fillText("this run has no bars", 20, 30);
    return;
  }
  bars.width = canvas.clientWidth - MARGIN.left;
  bars.height = canvas.clientHeight - MARGIN.bottom;
  const kinds = jobs.run.jobs.kind;
  let n = 0;
  for (const fits of [0, 1]) /* what fits lies on top; few changes of colour */
    for (const train of kinds ? [false, true] : [false]) {
      context.fillStyle = page.palette[train ? 1 : 0] + (fits ? "" : "30");
      for (let k = 0; k < bars.spans.job.length; k++) {
        const row = bars.row[k];
        if (jobs.fits[row] !== fits || (kinds !== null && (kinds[row] === "train") !== train)) continue;
        let seen = false;
        eachBox(k, (...box) => {
          context.fillRect(...box);
          seen = true;
        });
        n += seen;
      }
    }
  drawAxes(context, bars.width, bars.height);
  byId("gantt-said").textContent = `${n.toLocaleString("en")} of ${bars.spans.job.length.toLocaleString("en")} bars` +
    (kinds ? "; training orange, inference and others blue" : "");
}

/* By a factor around a part (0..1) of what is seen. */
function zoom(factor, part, vertical) {
  const view = bars.view, [a, b] = vertical ? ["low", "high"] : ["from", "to"];
  if (!view) return;
  const middle = view[a] + part * (view[b] - view[a]), whole = wholeView();
  view[a] = Math.max(whole[a], middle - (middle - view[a]) * factor);
  view[b] = Math.min(whole[b], middle + (view[b] - middle) * factor);
  if (view[b] - view[a] < (vertical ? 1 : 1e-3)) view[b] = view[a] + (vertical ? 1 : 1e-3);
  requestAnimationFrame(drawBars);
}

function move(dx, dy) {
  const view = bars.view, whole = wholeView();
  const shift = (a, b, by) => {
    const much = Math.max(whole[a] - view[a], Math.min(whole[b] - view[b], by));
    view[a] += much;
    view[b] += much;
  };
  shift("from", "to", -dx / bars.width * (view.to - view.from));
  shift("low", "high", -dy / bars.height * (view.high - view.low));
  requestAnimationFrame(drawBars);
}

/* The bar under the pointer, the last drawn first; -1 for none. */
function barAt(event) {
  for (let k = bars.view ? bars.spans.job.length - 1 : -1; k >= 0; k--) {
    let hit = false;
    eachBox(k, (x, y, width, height) => {
      hit = hit || (event.offsetX >= x && event.offsetX <= x + width &&
        event.offsetY >= y && event.offsetY <= y + height);
    });
    if (hit) return k;
  }
  return -1;
}

function sayBar(event) {
  const k = barAt(event), spans = bars.spans;
  if (k < 0) return;
  const row = bars.row[k], node = bars.nodes[spans.node[k]];
  byId("gantt-said").textContent = `${jobs.run.jobs.name[row]}: ${shown(spans.start_s[k])} to ` +
    `${shown(spans.end_s[k])} s on node ${node[0]}, GPU ${spans.gpu[k]}` +
    (spans.n[k] > 1 ? ` to ${spans.gpu[k] + spans.n[k] - 1}` : "");
}

function listenToPointer(canvas) {
  let down = null, moved = false;
  canvas.addEventListener("wheel", event => {
    event.preventDefault();
    const vertical = event.shiftKey, turn = event.deltaY || event.deltaX;
    zoom(turn > 0 ? 1.25 : 0.8, vertical ? event.offsetY / bars.height
      : (event.offsetX - MARGIN.left) / bars.width, vertical);
  }, {passive: false});
  canvas.addEventListener("pointerdown", event => {
    down = [event.clientX, event.clientY];
    moved = false;
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", event => {
    if (!down) {
      sayBar(event);
    } else if (bars.view) {
      moved = moved || Math.hypot(event.clientX - down[0], event.clientY - down[1]) > 3;
      move(event.clientX - down[0], event.clientY - down[1]);
      down = [event.clientX, event.clientY];
    }
  });
  canvas.addEventListener("pointerup", event => {
    const k = moved ? -1 : barAt(event);
    down = null;
    if (k < 0) return;
    byId("filter").value = `name="${jobs.run.jobs.name[bars.row[k]]}"`;
    filterJobs();
  });
}

startTables();
startCharts();
if (page.runs.some(run => run.jobs)) {
  jobs.fits = new Uint8Array(0);
  listenToPointer(byId("bars"));
  byId("zoom-in").addEventListener("click", () => zoom(0.5, 0.5, false));
  byId("zoom-out").addEventListener("click", () => zoom(2, 0.5, false));
  byId("zoom-all").addEventListener("click", () => startBars());
  window.addEventListener("resize", () => { drawBars(); showJobs(); });
  chooseRun(byId("run-choice").value);
  startBars();
}
