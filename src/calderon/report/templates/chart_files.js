// Curves as files: SVG with its own colours, CSV with a column for each curve.

const SVG_STYLE = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray", "font-size", "font-family", "font-weight", "paint-order"];

/** The SVG of a chart with its legend, in a file of its own: styles of the page become attributes. */
function chartSvg(chart, title) {
  const drawn = chart.drawing.querySelector("svg");
  const copy = drawn.cloneNode(true);
  const [from, to] = [[drawn, ...drawn.querySelectorAll("*")], [copy, ...copy.querySelectorAll("*")]];
  from.forEach((node, i) => {
    const style = getComputedStyle(node);
    for (const name of SVG_STYLE) to[i].setAttribute(name, style.getPropertyValue(name));
    to[i].removeAttribute("class");
  });
  const keys = [...chart.legend.children].map((button, k) => ({ text: button.textContent, colour: getComputedStyle(button.querySelector("line, path, circle") || button).stroke, k })).filter(({ k }) => !chart.hidden.has(k));
  const rows = keys.map(({ text, colour }, i) => `<g transform="translate(${SIDES.left} ${chart.height + 18 + 18 * i})" font-family="sans-serif" font-size="12.5"><path d="M0-4h24" stroke="${colour}" stroke-width="2"/><text x="32" fill="${getComputedStyle(chart.root).color}">${escaped(text)}</text></g>`);
  const height = chart.height + 18 * keys.length + (keys.length ? 14 : 0);
  const head = `<svg xmlns="http://www.w3.org/2000/svg" width="${chart.width}" height="${height}" viewBox="0 0 ${chart.width} ${height}"><title>${escaped(title)}</title><rect width="100%" height="100%" fill="${getComputedStyle(document.documentElement).getPropertyValue("--cv-ground")}"/>`;
  return `${head}${copy.innerHTML}${rows.join("")}</svg>\n`;
}

/** A row for each abscissa, a column for each curve; curves that have other abscissas follow below. */
function chartCsv({ kind, xLabel, yLabel, series }) {
  const cell = (text) => (/[",\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text);
  const number = (x) => (x === null || x === undefined ? "" : String(x));
  const abscissa = kind === "polar" ? "angle (radians)" : xLabel;
  const groups = new Map();
  for (const one of series) {
    const key = one.x.join();
    groups.set(key, [...(groups.get(key) || []), one]);
  }
  const lines = [];
  for (const group of groups.values()) {
    lines.push([abscissa, ...group.map(({ label }) => [label, yLabel].filter(Boolean).join(": "))].map(cell).join(","));
    group[0].x.forEach((x, i) => lines.push([x, ...group.map(({ y }) => y[i])].map(number).join(",")));
  }
  return `${lines.join("\n")}\n`;
}

/** Two buttons that save the curves. */
function chartButtons(chart) {
  const caption = chart.root.parentElement.querySelector("figcaption")?.textContent || chart.data.yLabel;
  const name = fileName(caption).slice(0, 60);
  const save = (kind, text, ending) => () => saveAs(`data:${kind};charset=utf-8,${encodeURIComponent(text())}`, `${name}.${ending}`);
  return element("div", { class: "chart-files" },
    element("button", { type: "button", title: "save the curves as a picture", onclick: save("image/svg+xml", () => chartSvg(chart, caption), "svg") }, "SVG"),
    element("button", { type: "button", title: "save the numbers of the curves", onclick: save("text/csv", () => chartCsv(chart.data), "csv") }, "CSV"));
}
