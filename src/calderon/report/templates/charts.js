// Curves as SVG: values under the cursor, zoom along the abscissa, curves that can be hidden.

const SIDES = { top: 34, right: 16, bottom: 44, left: 52 };

class Chart {
  constructor(root, data) {
    Object.assign(this, { root, data, hidden: new Set(), window: null });
    this.unit = (data.yLabel.match(/\(([^()]*(?:\([^()]*\)[^()]*)*)\)\s*$/) || [])[1] || "";
    this.xUnit = (data.xLabel?.match(/\(([^()]*)\)\s*$/) || [])[1] || "";
    this.drawing = element("div", { class: "chart-drawing" });
    this.tip = element("div", { class: "cv-tip", hidden: true });
    this.legend = element("div", { class: "chart-legend" });
    this.drawing.append(element("div", { class: "chart-svg" }), this.tip);
    const whole = element("button", { type: "button", class: "chart-whole", onclick: () => this.zoom() }, "whole range");
    root.append(this.drawing, this.legend, whole, chartButtons(this));
    if (data.series.length > 1) this.keys();
    this.listen();
    this.draw();
    // in the next frame: a drawing changes the height that is observed
    new ResizeObserver(() => requestAnimationFrame(() => this.draw())).observe(this.drawing);
    root.chart = this;
  }

  shown() {
    return this.data.series.filter((_, k) => !this.hidden.has(k));
  }

  keys() {
    const buttons = this.data.series.map((one, k) => {
      const on = !this.hidden.has(k);
      const line = one.line ? `<line x1="1" x2="25" y1="7" y2="7" ${pen(one)}/>` : "";
      const key = `<svg width="26" height="14">${line}${one.marker ? mark(one, 13, 7) : ""}</svg>`;
      const title = "show or hide; double click: this curve alone";
      return element("button", { type: "button", "aria-pressed": String(on), title, html: `${key}${escaped(one.label)}`, onclick: () => this.switch(k), ondblclick: () => this.alone(k) });
    });
    this.legend.replaceChildren(...buttons);
  }

  switch(k) {
    if (!this.hidden.delete(k)) this.hidden.add(k);
    this.keys();
    this.draw();
  }

  alone(k) {
    this.hidden = new Set(this.data.series.map((_, i) => i).filter((i) => i !== k));
    this.keys();
    this.draw();
  }

  draw() {
    this.width = Math.max(240, this.drawing.clientWidth);
    const body = this.data.kind === "polar" ? this.disc() : this.plane();
    const box = `width="${this.width}" height="${this.height}" viewBox="0 0 ${this.width} ${this.height}"`;
    this.drawing.firstChild.innerHTML = `<svg ${box} role="img" aria-label="${escaped(this.data.yLabel)}">${body}<g class="chart-cursor"></g></svg>`;
    this.cursor = this.drawing.querySelector(".chart-cursor");
  }

  /** Axes, grid and curves of a Cartesian chart. */
  plane() {
    const { data, width } = this;
    this.height = Math.round(clamp(0.62 * width, 230, 360));
    const [xlim, ylim] = [this.window || data.xLim, data.yLim];
    this.x = scale(xlim, data.xLog, SIDES.left, width - SIDES.right);
    this.y = scale(ylim, data.yLog, this.height - SIDES.bottom, SIDES.top);
    const parts = [];
    const degrees = /degree|°/.test(data.xLabel);
    for (const [at, text] of marksOf(xlim, data.xLog, width / 90, degrees ? [1, 1.5, 3, 4.5, 6, 9, 10] : undefined)) {
      const x = this.x(at).toFixed(1);
      parts.push(`<line class="grid" x1="${x}" x2="${x}" y1="${SIDES.top}" y2="${this.height - SIDES.bottom}"/><text x="${x}" y="${this.height - SIDES.bottom + 17}" text-anchor="middle">${text}</text>`);
    }
    for (const [at, text] of marksOf(ylim, data.yLog, this.height / 55)) {
      const y = this.y(at).toFixed(1);
      parts.push(`<line class="grid" x1="${SIDES.left}" x2="${width - SIDES.right}" y1="${y}" y2="${y}"/><text x="${SIDES.left - 8}" y="${Number(y) + 4}" text-anchor="end">${text}</text>`);
    }
    const id = `clip${(Chart.count = (Chart.count || 0) + 1)}`;
    const room = `x="${SIDES.left - 4}" y="${SIDES.top - 4}" width="${width - SIDES.left - SIDES.right + 8}" height="${this.height - SIDES.bottom - SIDES.top + 8}"`;
    parts.push(`<clipPath id="${id}"><rect ${room}/></clipPath><g clip-path="url(#${id})">`);
    for (const { at, label } of data.lines || []) {
      const y = this.y(at).toFixed(1);
      parts.push(`<line class="level" x1="${SIDES.left}" x2="${width - SIDES.right}" y1="${y}" y2="${y}"/><text x="${SIDES.left + 6}" y="${Number(y) - 5}">${escaped(label)}</text>`);
    }
    for (const { at, label } of data.marks || []) {
      const x = this.x(at);
      if (!(x >= SIDES.left - 1 && x <= width - SIDES.right + 1)) continue;
      const after = x < width - 110;
      parts.push(`<line class="level" x1="${x.toFixed(1)}" x2="${x.toFixed(1)}" y1="${SIDES.top}" y2="${this.height - SIDES.bottom}"/><text x="${(x + (after ? 5 : -5)).toFixed(1)}" y="${SIDES.top + 10}" text-anchor="${after ? "start" : "end"}">${escaped(label)}</text>`);
    }
    for (const one of this.shown()) parts.push(curve(one, (i) => [this.x(one.x[i]), this.y(one.y[i])]));
    parts.push(`</g><text class="name" x="${(SIDES.left + width - SIDES.right) / 2}" y="${this.height - 6}" text-anchor="middle">${escaped(data.xLabel)}</text>`);
    parts.push(`<text class="name" x="2" y="14">${escaped(data.yLabel)}</text>`);
    return parts.join("");
  }

  /** Rings with their numbers, rays and curves of a polar chart; angles in radians. */
  disc() {
    const { data, width } = this;
    const half = data.sector <= 180;
    const side = Math.min(width, 400);
    const radius = side / 2 - 34;
    this.height = Math.round((half ? radius + 74 : side) + 26);
    this.centre = [width / 2, half ? radius + 34 : side / 2];
    const [low, high] = data.yLim;
    this.r = (level) => (radius * clamp(level - low, 0, high - low)) / (high - low);
    const [cx, cy] = this.centre;
    const place = (angle, r) => [cx + r * Math.cos(angle), cy - r * Math.sin(angle)];
    const parts = [];
    const arc = (r) => {
      if (data.sector >= 360) return `<circle class="grid" cx="${cx}" cy="${cy}" r="${r}"/>`;
      const [x, y] = place((data.sector * Math.PI) / 180, r);
      return `<path class="grid" d="M${cx + r} ${cy}A${r} ${r} 0 0 0 ${x.toFixed(1)} ${y.toFixed(1)}"/>`;
    };
    for (let angle = 0; angle <= Math.min(330, data.sector); angle += 30) {
      const [x, y] = place((angle * Math.PI) / 180, radius);
      const [tx, ty] = place((angle * Math.PI) / 180, radius + 17);
      parts.push(`<line class="grid" x1="${cx}" y1="${cy}" x2="${x.toFixed(1)}" y2="${y.toFixed(1)}"/><text x="${tx.toFixed(1)}" y="${(ty + 4).toFixed(1)}" text-anchor="middle">${angle}°</text>`);
    }
    for (const level of data.rings) parts.push(arc(this.r(level)));
    parts.push(arc(radius).replace("grid", "rim"));
    for (const one of this.shown()) parts.push(curve(one, (i) => place(one.x[i], this.r(one.y[i]))));
    const step = data.rings.length > 1 ? data.rings[1] - data.rings[0] : 1;
    for (const level of data.rings) {
      const [x, y] = half ? [cx + this.r(level), cy + 15] : place((data.quiet * Math.PI) / 180, this.r(level));
      parts.push(`<text class="ring" x="${x.toFixed(1)}" y="${(y + 4).toFixed(1)}" text-anchor="middle">${tickText(level, step)}</text>`);
    }
    if (data.incident !== undefined) parts.push(arrow(26, 30, data.incident));
    parts.push(`<text class="name" x="${cx}" y="${this.height - 6}" text-anchor="middle">${escaped(data.yLabel)}</text>`);
    return parts.join("");
  }

  listen() {
    const area = this.drawing;
    let from = null;
    const at = (event) => {
      const box = area.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top];
    };
    area.addEventListener("pointermove", (event) => {
      const [x, y] = at(event);
      if (from === null) return this.hover(x, y);
      this.tip.hidden = true;
      const [a, b] = [Math.min(from, x), Math.max(from, x)];
      this.cursor.innerHTML = `<rect class="chosen" x="${a}" y="${SIDES.top}" width="${b - a}" height="${this.height - SIDES.top - SIDES.bottom}"/>`;
    });
    area.addEventListener("pointerdown", (event) => {
      this.hover(...at(event));
      if (this.data.kind === "polar" || event.pointerType === "touch") return;
      from = at(event)[0];
      area.setPointerCapture(event.pointerId);
    });
    area.addEventListener("pointerup", (event) => {
      const [x] = at(event);
      if (from !== null && Math.abs(x - from) > 8) this.zoom(this.x.back(Math.min(x, from)), this.x.back(Math.max(x, from)));
      from = null;
    });
    area.addEventListener("pointerleave", () => {
      this.tip.hidden = true;
      if (this.cursor && from === null) this.cursor.innerHTML = "";
    });
    area.addEventListener("dblclick", () => this.zoom());
  }

  zoom(low, high) {
    const [a, b] = this.data.xLim;
    this.window = low === undefined ? null : [Math.max(low, a), Math.min(high, b)];
    this.root.classList.toggle("zoomed", Boolean(this.window));
    this.draw();
  }

  /** Values of all curves at the abscissa nearest to the cursor. */
  hover(px, py) {
    const polar = this.data.kind === "polar";
    const curves = this.shown();
    if (!curves.length || !this.cursor) return;
    const [cx, cy] = this.centre || [];
    let wanted = polar ? Math.atan2(cy - py, px - cx) : this.x.back(px);
    if (polar && wanted < Math.min(...curves[0].x) - 1e-6) wanted += 2 * Math.PI;
    const lines = curves.filter((one) => one.line);
    const main = lines[0] || curves[0];
    const nearest = (one) => one.x.reduce((best, x, i) => (Math.abs(x - wanted) < Math.abs(one.x[best] - wanted) ? i : best), 0);
    const at = main.x[nearest(main)];
    const rows = [];
    const dots = [];
    const spacing = main.x.length > 1 ? Math.abs(main.x[main.x.length - 1] - main.x[0]) / (main.x.length - 1) : Infinity;
    for (const one of curves) {
      const i = one.x.reduce((best, x, k) => (Math.abs(x - at) < Math.abs(one.x[best] - at) ? k : best), 0);
      if (Math.abs(one.x[i] - at) > 1.5 * spacing || !Number.isFinite(one.y[i])) continue;
      const floor = polar && one.y[i] <= this.data.yLim[0];
      rows.push([one.label || this.data.yLabel.replace(/\s*\(.*/, ""), (floor ? "≤ " : "") + withUnit(one.y[i], this.unit)]);
      const [x, y] = polar ? [cx + this.r(one.y[i]) * Math.cos(at), cy - this.r(one.y[i]) * Math.sin(at)] : [this.x(one.x[i]), this.y(one.y[i])];
      dots.push(`<circle cx="${x.toFixed(1)}" cy="${y.toFixed(1)}" r="4" fill="${one.colour}"/>`);
    }
    if (!rows.length) return;
    const line = polar
      ? `<line x1="${cx}" y1="${cy}" x2="${(cx + this.r(this.data.yLim[1]) * Math.cos(at)).toFixed(1)}" y2="${(cy - this.r(this.data.yLim[1]) * Math.sin(at)).toFixed(1)}"/>`
      : `<line x1="${this.x(at).toFixed(1)}" x2="${this.x(at).toFixed(1)}" y1="${SIDES.top}" y2="${this.height - SIDES.bottom}"/>`;
    this.cursor.innerHTML = line + dots.join("");
    const name = polar ? `${numberText((at * 180) / Math.PI)}°` : `${this.data.xLabel.replace(/\s*\([^()]*\)$/, "")} ${withUnit(at, this.xUnit.replace(/^degrees?$/, "°"), 5)}`;
    this.tip.innerHTML = `<em>${escaped(name)}</em>` + rows.map(([label, text]) => `<span>${escaped(label)}</span><b>${escaped(text)}</b>`).join("");
    this.tip.hidden = false;
    const w = this.tip.offsetWidth;
    this.tip.style.left = `${px + 18 + w < this.width ? px + 14 : Math.max(2, px - w - 14)}px`;
    this.tip.style.top = `${clamp(py + 14, 2, Math.max(2, this.height - this.tip.offsetHeight - 4))}px`;
  }
}

function scale([low, high], log, from, to) {
  const map = log ? Math.log10 : (x) => x;
  const [a, b] = [map(low), map(high)];
  const place = (x) => (log && !(x > 0) ? NaN : from + ((map(x) - a) / (b - a)) * (to - from));
  place.back = (pixel) => { const t = a + ((pixel - from) / (to - from)) * (b - a); return log ? 10 ** t : t; };
  return place;
}

/** Positions and texts on an axis. */
function marksOf([low, high], log, count, steps) {
  if (!log) {
    const found = ticks(low, high, Math.max(2, Math.floor(count)), steps);
    const step = found.length > 1 ? found[1] - found[0] : 1;
    return found.map((x) => [x, tickText(x, step)]);
  }
  const [first, last] = [Math.ceil(Math.log10(low) - 1e-9), Math.floor(Math.log10(high) + 1e-9)];
  const every = Math.max(1, Math.ceil((last - first + 1) / Math.max(2, count)));
  const found = [];
  for (let d = first; d <= last; d += every) found.push([10 ** d, d >= -3 && d <= 4 ? tickText(10 ** d, 10 ** d) : `10${[...String(d)].map((c) => RAISED[c]).join("")}`]);
  return found.length > 1 ? found : ticks(low, high, 4).map((x) => [x, numberText(x, 3)]);
}

function pen(one) {
  const dash = one.dash ? ` stroke-dasharray="${one.dash.join(" ")}"` : "";
  return `fill="none" stroke="${one.colour}" stroke-width="${one.thin ? 1.2 : 2}" stroke-linejoin="round"${dash}`;
}

function mark(one, x, y) {
  const style = `stroke="${one.colour}" stroke-width="1.2" fill="${one.line && !one.thin ? one.colour : "var(--cv-raised)"}"`;
  const r = 3;
  const at = `${x.toFixed(1)} ${y.toFixed(1)}`;
  if (one.marker === "x") return `<path d="M${at}m-3-3l6 6m0-6l-6 6" ${style}/>`;
  if (one.marker === "+") return `<path d="M${at}m-3.5 0h7m-3.5-3.5v7" ${style}/>`;
  if (one.marker === "s") return `<path d="M${at}m-3-3h6v6h-6z" ${style}/>`;
  if (one.marker === "D" || one.marker === "^") return `<path d="M${at}m0-4l4 4-4 4-4-4z" ${style}/>`;
  return `<circle cx="${x.toFixed(1)}" cy="${y.toFixed(1)}" r="${r}" ${style}/>`;
}

/** A curve with gaps where values are missing, and its markers. */
function curve(one, place) {
  const parts = [];
  let path = "";
  let drawing = false;
  for (let i = 0; i < one.x.length; i++) {
    const [x, y] = place(i);
    if (!Number.isFinite(x) || !Number.isFinite(y) || one.y[i] === null) {
      drawing = false;
      continue;
    }
    path += `${drawing ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`;
    drawing = true;
    if (one.marker && i % one.every === 0) parts.push(mark(one, x, y));
  }
  return (one.line ? `<path d="${path}" ${pen(one)}/>` : "") + parts.join("");
}

/** Where the incident wave travels. */
function arrow(x, y, angle) {
  const turned = `translate(${x} ${y}) rotate(${(-angle * 180) / Math.PI})`;
  return `<g class="arrow"><path transform="${turned}" d="M-15 0H12M5-5l8 5-8 5"/><text x="${x - 20}" y="${y + 30}">incident wave</text></g>`;
}
