/* The figures: lines and points as SVG, told apart by colour, dashes and marks. */

const SVG = "http://www.w3.org/2000/svg";
const chart = {width: 560, height: 330, left: 62, right: 14, top: 10, bottom: 42};

function svg(tag, fields, ...children) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(fields)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

const DASHES = ["", "7 4", "9 3 2 3", "13 5", "2 3", "9 3 2 3 2 3", "13 4 5 4", "5 3 5 3 2 3"];
/* Paths around 0,0. */
const MARKS = ["M-3,0a3,3 0 1,0 6,0a3,3 0 1,0 -6,0", "M-3,-3h6v6h-6z", "M0,-4L4,3H-4z", "M0,-4L4,0L0,4L-4,0z",
  "M-3,-3L3,3M3,-3L-3,3", "M-4,0H4M0,-4V4", "M0,4L4,-3H-4z", "M-4,-1.5H4V1.5H-4z"];

function styleOf(i) {
  return {stroke: page.palette[i % 8], "stroke-width": 1.8, "stroke-dasharray": DASHES[i % 8], fill: "none"};
}

/* Round what is best: the last series of a figure of points. */
function ringAt(x, y) {
  return svg("circle", {cx: x.toFixed(1), cy: y.toFixed(1), r: 7, fill: "none", stroke: "#000", "stroke-width": 1.6});
}

function markAt(i, x, y) {
  return svg("path", {d: MARKS[i % 8], transform: `translate(${x.toFixed(1)},${y.toFixed(1)})`,
    stroke: page.palette[i % 8], "stroke-width": 1.4, fill: page.palette[i % 8]});
}

/* Round numbers that part the range in about n. */
function ticksOf(low, high, n) {
  const raw = (high - low) / n, size = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].find(k => k * size >= raw) * size;
  const ticks = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high * (1 + 1e-9) + 1e-12; k++) ticks.push(k * step);
  return ticks;
}

/* How a column of numbers is laid out between two pixels. */
function scaleOf(values, from, to, log, fromZero) {
  let low = Math.min(...values), high = Math.max(...values);
  if (log) {
    low = Math.log10(low);
    high = Math.log10(high);
  } else if (fromZero) {
    low = Math.min(0, low);
  }
  if (high === low) {
    low -= Math.abs(low) * 0.1 + 1e-9;
    high += Math.abs(high) * 0.1 + 1e-9;
  }
  const at = v => from + ((log ? Math.log10(v) : v) - low) / (high - low) * (to - from);
  let ticks = log ? [] : ticksOf(low, high, 6);
  for (let k = Math.ceil(low - 1e-9); log && k <= high + 1e-9; k++) ticks.push(10 ** k);
  return {at, ticks};
}

function tickText(value) {
  const size = Math.abs(value);
  if (size >= 1e6) return Number((value / 1e6).toPrecision(4)) + "M";
  if (size >= 1e4) return Number((value / 1e3).toPrecision(4)) + "k";
  return String(Number(value.toPrecision(4)));
}

function axes(x, y, figure) {
  const made = [], bottom = chart.height - chart.bottom, right = chart.width - chart.right;
  const text = (fields, words) => svg("text", {"font-size": 12, fill: "#333", ...fields}, words);
  for (const tick of x.ticks) {
    const at = x.at(tick).toFixed(1);
    made.push(svg("path", {d: `M${at},${chart.top}V${bottom}`, stroke: "#e2e2e2"}),
      text({x: at, y: bottom + 15, "text-anchor": "middle"}, tickText(tick)));
  }
  for (const tick of y.ticks) {
    const at = y.at(tick);
    made.push(svg("path", {d: `M${chart.left},${at.toFixed(1)}H${right}`, stroke: "#e2e2e2"}),
      text({x: chart.left - 6, y: (at + 4).toFixed(1), "text-anchor": "end"}, tickText(tick)));
  }
  const middle = (chart.top + bottom) / 2;
  made.push(svg("path", {d: `M${chart.left},${chart.top}V${bottom}H${right}`, stroke: "#444", fill: "none"}),
    text({x: (chart.left + right) / 2, y: chart.height - 8, "text-anchor": "middle"}, figure.x),
    text({x: 14, y: middle, "text-anchor": "middle", transform: `rotate(-90 14 ${middle})`}, figure.y));
  return made;
}

function markOf(figure, i) {
  return figure.how === "points" && i === figure.series.length - 1 ? ringAt : (x, y) => markAt(i, x, y);
}

function legend(figure) {
  return element("div", {className: "legend"}, ...figure.series.map((series, i) => element("span", {},
    svg("svg", {viewBox: "0 0 38 11"}, svg("path", {d: "M0,5.5H38", ...styleOf(i),
      ...(figure.how === "points" ? {stroke: "none"} : {})}), markOf(figure, i)(19, 5.5)), series.name)));
}

function drawFigure(figure) {
  const all = figure.series.flatMap(series => series.rows);
  const x = scaleOf(all.map(row => row[0]), chart.left, chart.width - chart.right, figure.how === "log", figure.how === "zero");
  const y = scaleOf(all.map(row => row[1]), chart.height - chart.bottom, chart.top, false, figure.how !== "points");
  const drawn = axes(x, y, figure);
  figure.series.forEach((series, i) => {
    const points = series.rows.map(row => [x.at(row[0]), y.at(row[1])]);
    if (figure.how !== "points")
      drawn.push(svg("path", {d: "M" + points.map(p => p.map(v => v.toFixed(1)).join(",")).join("L"), ...styleOf(i)}));
    const step = Math.max(1, Math.ceil(points.length / 12));
    points.forEach((p, k) => {
      if (figure.how === "points" || k % step === 0 || points.length < 25) {
        const mark = markOf(figure, i)(...p);
        mark.append(svg("title", {}, `${series.name}: ${shown(series.rows[k][0])}, ${shown(series.rows[k][1])}`));
        drawn.push(mark);
      }
    });
  });
  return element("figure", {}, element("figcaption", {}, figure.name + ": " + figure.summary), legend(figure),
    svg("svg", {viewBox: `0 0 ${chart.width} ${chart.height}`, role: "img", "aria-label": figure.summary}, ...drawn));
}

function startCharts() {
  byId("charts").append(...page.figures.map(drawFigure));
}
