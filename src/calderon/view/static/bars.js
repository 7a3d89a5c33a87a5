// Colour bars: round ticks, bands and isolines, on the page and in saved pictures.

const TICKS = 5;

/** What a colour bar shows of a range: ticks at {at: 0 to 1, text}, the power of ten that their texts leave out, and the
    values at which bands and isolines begin and follow each other. */
function barOf({ low, high }) {
  const size = Math.max(Math.abs(low), Math.abs(high));
  const power = size >= 1e5 || size < 1e-2 ? 3 * Math.floor(Math.log10(size || 1) / 3 + 1e-9) : 0;
  const found = ticks(low, high, TICKS);
  const step = found.length > 1 ? found[1] - found[0] : (high - low) / 2;
  const unit = 10 ** power;
  return {
    power,
    ticks: found.map((x) => ({ at: (x - low) / (high - low), text: tickText(x / unit, step / unit) })),
    levels: { first: found[0], step: step / 2 },
  };
}

/** "σ in MPa", with the power of ten of the ticks. */
function barName(view, field, power) {
  const quantity = view.shown(field);
  const unit = quantityUnit(quantity, field);
  const times = power ? `10${raised(power)}${unit ? " " : ""}` : "";
  return `${quantityName(quantity, field, view.component(field))}${unit || power ? ` in ${times}${unit}` : ""}`;
}

/** Colours from left to right, [position from 0 to 1, "rgb(...)"]; of bands, each with two ends. */
function barColours(range, bands) {
  const bytes = mapBytes(range.map);
  const colour = (t) => {
    const k = 4 * Math.round(256 * clamp(range.reverse ? 1 - t : t, 0, 1));
    return `rgb(${bytes[k]} ${bytes[k + 1]} ${bytes[k + 2]})`;
  };
  if (!bands) return Array.from({ length: MAP_STEPS + 1 }, (_, i) => [i / MAP_STEPS, colour(i / MAP_STEPS)]);
  const { first, step } = barOf(range).levels;
  const place = (value) => (value - range.low) / (range.high - range.low);
  const found = [];
  for (let k = Math.floor((range.low - first) / step); first + k * step < range.high; k++) {
    const [from, to] = [place(first + k * step), place(first + (k + 1) * step)];
    const shown = colour((from + to) / 2);
    found.push([clamp(from, 0, 1), shown], [clamp(to, 0, 1), shown]);
  }
  return found;
}

Object.assign(View.prototype, {
  /** One field for each colour bar. */
  bars() {
    const found = new Map();
    for (const layer of this.visible()) if (layer.fields.length) found.set(this.key(this.field(layer)), this.field(layer));
    return [...found.values()];
  },

  bar(field_) {
    const range = this.range(field_);
    const key = this.key(field_);
    const { power, ticks: marks } = barOf(range);
    const set = (end) => (event) => {
      const value = Number(event.target.value.replace("−", "-").replace(",", "."));
      const wanted = { low: range.low, high: range.high, [end]: value };
      if (Number.isFinite(value) && wanted.low < wanted.high) this.limits[key] = { low: wanted.low, high: wanted.high };
      this.controls();
    };
    const input = (end) => element("input", {
      type: "text", inputmode: "decimal", value: Number(range[end].toPrecision(4)), "aria-label": `${end === "low" ? "lower" : "upper"} end of the colours`, onchange: set(end),
    });
    const fixed = this.limits[key] && element("button", { type: "button", class: "cv-link", onclick: () => { delete this.limits[key]; this.controls(); } }, "whole range");
    const colours = barColours(range, this.bands).map(([at, colour]) => `${colour} ${(100 * at).toFixed(2)}%`);
    return element("div", { class: "cv-bar" },
      element("div", { class: "cv-name" }, barName(this, field_, power), fixed || null),
      element("div", { class: "cv-colours", style: `background:linear-gradient(to right, ${colours.join(",")})` }),
      element("div", { class: "cv-ticks", "aria-hidden": "true" }, ...marks.map(({ at, text }) => element("span", { style: `left:${(100 * at).toFixed(2)}%` }, text))),
      element("div", { class: "cv-ends" }, input("low"), element("span", {}, "to"), input("high")));
  },

  /** Draw the bar of a field with its ticks and name, (x, y) at its upper left. */
  drawBar(pen, field_, x, y, width, { ink, muted }) {
    const range = this.range(field_);
    const { power, ticks: marks } = barOf(range);
    const gradient = pen.createLinearGradient(x, 0, x + width, 0);
    for (const [at, colour] of barColours(range, this.bands)) gradient.addColorStop(at, colour);
    pen.fillStyle = ink;
    pen.textAlign = "left";
    pen.fillText(barName(this, field_, power), x, y + 12);
    pen.fillStyle = gradient;
    pen.fillRect(x, y + 20, width, 13);
    pen.fillStyle = pen.strokeStyle = muted;
    pen.lineWidth = 1;
    pen.textAlign = "center";
    for (const { at, text } of marks) {
      pen.fillRect(x + at * width - 0.5, y + 33, 1, 4);
      pen.fillText(text, x + at * width, y + 50);
    }
  },
});
