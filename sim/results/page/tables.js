"use strict";
/* The page's data, its tables of runs, metrics, settings and jobs. */

const page = JSON.parse(document.getElementById("data").textContent);
page.runs = page.runs.map(({about, ...rest}) => ({...about, ...rest}));
const byId = id => document.getElementById(id);

/* element("td", {className: "number"}, "3", child...) */
function element(tag, fields = {}, ...children) {
  const made = Object.assign(document.createElement(tag), fields);
  made.append(...children);
  return made;
}

/* About five digits; "-" for what cannot be told. */
function shown(value) {
  if (value === null || value === undefined) return "-";
  if (typeof value !== "number") return String(value);
  if (Number.isInteger(value) && Math.abs(value) < 1e15) return String(value);
  const size = Math.abs(value);
  const digits = size >= 10000 ? 0 : size >= 100 ? 1 : size >= 1 ? 3 : 5;
  return String(Number(value.toFixed(digits)));
}

function tableOf(head, rows) {
  const isNumber = i => rows.some(row => typeof row[i] === "number");
  const cell = (value, i) => value instanceof Node ? value
    : element("td", {className: isNumber(i) ? "number" : ""}, shown(value));
  return element("table", {},
    element("thead", {}, element("tr", {}, ...head.map((text, i) =>
      element("th", {className: isNumber(i) ? "number" : ""}, text)))),
    element("tbody", {}, ...rows.map(row => element("tr", {}, ...row.map(cell)))));
}

/* "x0.54" of the first run's value, where both are known. */
function ratio(value, first) {
  const known = typeof value === "number" && typeof first === "number" && first !== 0;
  return element("td", {className: "ratio"}, known ? "×" + (value / first).toFixed(3) : "");
}

function fillRuns() {
  const first = page.runs[0];
  const main = ["jct_mean_s", "jct_p99_s", "wait_mean_s", "makespan_s", "gpu_alloc_mean",
    "sm_util_mean", "throughput_gpus"];
  const head = ["run", "policy", "seed", "status", "jobs"];
  for (const name of main) head.push(name, "");
  byId("run-table").append(tableOf(head, page.runs.map(run => {
    const row = [run.name, run.policy, run.seed, run.status, run.metrics.jobs_completed];
    for (const name of main) row.push(run.metrics[name], ratio(run.metrics[name], first.metrics[name]));
    return row;
  })));
  byId("metric-table").append(tableOf(["metric", ...page.runs.map(run => run.name), "unit", "what it is"],
    page.metrics.map(metric => [metric.name, ...page.runs.map(run => run.metrics[metric.name]),
      metric.unit, element("td", {className: "doc"}, metric.doc)])));
}

/* One row a setting; what differs between the runs is marked. */
function fillSettings() {
  const all = byId("all-settings").checked;
  const keys = new Map();
  page.runs.forEach((run, i) => run.settings.forEach(([key, value, unit, initial]) => {
    if (!keys.has(key)) keys.set(key, {unit, initial, values: page.runs.map(() => null)});
    keys.get(key).values[i] = value;
  }));
  const rows = [];
  for (const [key, row] of [...keys].sort((a, b) => a[0] < b[0] ? -1 : 1)) {
    if (!all && row.values.every(value => value === row.initial || value === null)) continue;
    const differs = new Set(row.values).size > 1;
    rows.push([key, ...row.values.map(value =>
      element("td", {className: differs ? "changed" : ""}, shown(value))), row.initial, row.unit]);
  }
  byId("setting-table").replaceChildren(
    tableOf(["setting", ...page.runs.map(run => run.name), "default", "unit"], rows));
}

/* ---- the jobs of the chosen run ---- */

const jobs = {run: null, columns: [], order: [], sortBy: null, down: false, n: 0, fits: null};
const ROW_HEIGHT = 25;

function chooseRun(name) {
  jobs.run = page.runs.find(run => run.jobs && run.name === name);
  const table = jobs.run.jobs;
  jobs.columns = Object.keys(table).filter(column => table[column] && column !== "job");
  jobs.n = table.job.length;
  jobs.text = null;
  bars.view = null;
  jobs.sortBy = null;
  jobs.order = Array.from({length: jobs.n}, (_, i) => i);
  byId("job-table").replaceChildren(
    element("thead", {}, element("tr", {}, ...jobs.columns.map(column => {
      const head = element("th", {}, column);
      head.dataset.column = column;
      head.addEventListener("click", () => sortJobs(column));
      return head;
    }))), element("tbody"));
  filterJobs();
}

/* Everything of a job that is text, in lower case, put together once. */
function jobText() {
  if (!jobs.text) {
    const table = jobs.run.jobs;
    const texts = jobs.columns.filter(column => table[column].some(v => typeof v === "string"));
    jobs.text = Array.from({length: jobs.n}, (_, i) =>
      texts.map(column => table[column][i] ?? "").join("\n").toLowerCase());
  }
  return jobs.text;
}

/* A word of the filter as a test of a job's row; null where its column is none. */
function testOf(word) {
  const parts = /^(\w+)(<=|>=|=|:|<|>)(.*)$/.exec(word);
  const column = parts && jobs.run.jobs[parts[1]];
  if (!column) {
    const text = jobText(), part = word.toLowerCase();
    return i => text[i].includes(part);
  }
  const [, , sign, value] = parts, number = Number(value), low = value.toLowerCase();
  const compare = {"<": a => a < number, "<=": a => a <= number, ">": a => a > number,
    ">=": a => a >= number}[sign];
  if (compare) return i => typeof column[i] === "number" && compare(column[i]);
  if (sign === ":") return i => column[i] !== null && String(column[i]).toLowerCase().includes(low);
  return i => column[i] !== null && (typeof column[i] === "number" ? column[i] === number
    : column[i].toLowerCase() === low);
}

function filterJobs() {
  const start = performance.now();
  const words = byId("filter").value.match(/(?:[^\s"]|"[^"]*")+/g) || [];
  const tests = words.map(word => testOf(word.replaceAll('"', "")));
  jobs.fits = new Uint8Array(jobs.n);
  let n = 0;
  for (let i = 0; i < jobs.n; i++)
    if (tests.every(test => test(i))) {
      jobs.fits[i] = 1;
      n++;
    }
  jobs.shown = jobs.order.filter(i => jobs.fits[i]);
  byId("job-scroll").scrollTop = 0;
  showJobs();
  drawBars();
  const ms = performance.now() - start;
  byId("filter-said").textContent =
    `${n.toLocaleString("en")} of ${jobs.n.toLocaleString("en")} jobs (${ms.toFixed(0)} ms)`;
}

/* What does not exist comes last, either way. */
function sortJobs(column) {
  jobs.down = jobs.sortBy === column && !jobs.down;
  jobs.sortBy = column;
  const values = jobs.run.jobs[column], way = jobs.down ? -1 : 1;
  jobs.order.sort((a, b) => {
    const x = values[a], y = values[b];
    if (x === y) return a - b;
    if (x === null) return 1;
    if (y === null) return -1;
    return (x < y ? -1 : 1) * way;
  });
  for (const head of byId("job-table").querySelectorAll("th"))
    head.textContent = head.dataset.column + (head.dataset.column === column ? jobs.down ? " ▼" : " ▲" : "");
  jobs.shown = jobs.order.filter(i => jobs.fits[i]);
  showJobs();
}

/* Only the rows in sight are made; the rest is one tall row above and one below. */
function showJobs() {
  const scroll = byId("job-scroll"), table = jobs.run.jobs;
  const first = Math.max(0, Math.floor(scroll.scrollTop / ROW_HEIGHT) - 10);
  const last = Math.min(jobs.shown.length, first + Math.ceil(scroll.clientHeight / ROW_HEIGHT) + 20);
  const spacer = rows => {
    const row = element("tr", {className: "spacer"},
      element("td", {colSpan: jobs.columns.length}));
    row.style.height = rows * ROW_HEIGHT + "px";
    return row;
  };
  const rows = [];
  for (let k = first; k < last; k++) {
    const i = jobs.shown[k];
    rows.push(element("tr", {}, ...jobs.columns.map(column => {
      const value = table[column][i];
      return element("td", {className: typeof value === "number" ? "number" : ""}, shown(value));
    })));
  }
  byId("job-table").tBodies[0].replaceChildren(spacer(first), ...rows,
    spacer(jobs.shown.length - last));
}

function startTables() {
  byId("about").textContent = page.about;
  fillRuns();
  fillSettings();
  byId("all-settings").addEventListener("change", fillSettings);
  const told = page.runs.filter(run => run.jobs);
  if (page.runs.length > told.length)
    byId("jobs").insertBefore(element("p", {className: "note"}, page.left_out), byId("jobs").children[1]);
  byId("run-choice").append(...told.map(run => element("option", {}, run.name)));
  byId("run-choice").addEventListener("change", event => {
    chooseRun(event.target.value);
    startBars();
  });
  let waiting = 0;
  byId("filter").addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(filterJobs, 60);
  });
  byId("job-scroll").addEventListener("scroll", () => requestAnimationFrame(showJobs));
}
