// What is drawn over the picture: axes, scale bar, largest and least values, angles, and the tip beside the object.

const AXES = ["#d55e00", "#009e73", "#0072b2"];
const PICKED_FOR_FLAGS = 200000; // corners of a layer, beyond which what hides a flag is not looked for

/** Corners with the least and the largest shown value of a layer, {low: {i, value}, high}, or null. */
function extremeCorners(view, layer) {
  const field_ = view.field(layer);
  const [quantity, axis, { re, im }] = [view.shown(field_), view.component(field_), layer];
  const key = `${layer.cache.key} ${quantity} ${axis} ${view.phase}`;
  if (layer.cache.corners?.key === key) return layer.cache.corners;
  const n = field_.components;
  const found = { key, low: { i: -1, value: Infinity }, high: { i: -1, value: -Infinity } };
  for (let i = 0; i < re.length / n; i++) {
    const parts = [re, im].map((array) => Array.from({ length: n }, (_, c) => (array ? array[n * i + c] : 0)));
    const value = shownValue(...parts, quantity, axis, view.turn, field_.power);
    if (value < found.low.value) found.low = { i, value };
    if (value > found.high.value) found.high = { i, value };
  }
  layer.cache.corners = found;
  return found;
}

/** The largest and the least value of the main field on the layers shown: [{layer, i, value, name}]. */
function flagsOf(view) {
  const main = view.field(view.main);
  if (!main || view.shown(main) === "phase") return [];
  const [most, least] = [{ value: -Infinity, name: "largest" }, { value: Infinity, name: "least" }];
  for (const layer of view.visible()) {
    if (!layer.fields.length || !layer.re || view.key(view.field(layer)) !== view.key(main)) continue;
    const { low, high } = extremeCorners(view, layer);
    if (high.i >= 0 && high.value > most.value) Object.assign(most, { layer, ...high });
    if (low.i >= 0 && low.value < least.value) Object.assign(least, { layer, ...low });
  }
  return [most, least].filter(({ layer, name }) => layer && (name === "largest" || (layer.kind !== "pattern" && least.value !== most.value)));
}

/** A text on a ground that is seen on any colour. */
function boxedText(pen, text, x, y, { ink, ground, line }) {
  const wide = pen.measureText(text).width;
  pen.fillStyle = ground;
  pen.strokeStyle = line;
  pen.lineWidth = 1;
  pen.beginPath();
  pen.roundRect(x - 6, y - 10, wide + 12, 20, 5);
  pen.fill();
  pen.stroke();
  pen.fillStyle = ink;
  pen.textAlign = "left";
  pen.fillText(text, x, y + 4);
}

Object.assign(View.prototype, {
  /** Everything over the picture, with a pen in pixels of the page. */
  overlay(pen, width, height) {
    const style = getComputedStyle(this.root);
    const [ink, muted, ground, line] = ["ink", "muted", "raised", "line"].map((name) => style.getPropertyValue(`--cv-${name}`).trim());
    this.inks = { ink, muted, ground, line };
    pen.font = `12px ${style.fontFamily}`;
    pen.lineCap = "round";
    if (this.arrows) drawArrows(this, pen, width, height);
    for (const each of this.pointers) if (each.on) drawPointers(this, pen, each, width, height);
    if (this.layers.some((layer) => layer.kind === "pattern")) this.drawAngles(pen, width, height); // with its axes
    else this.drawAxes(pen, height);
    if (this.scene.length) this.drawScale(pen, width, height);
    if (this.flags) for (const flag of flagsOf(this)) this.drawFlag(pen, flag, width, height);
  },

  drawAngles(pen, width, height) {
    pen.strokeStyle = this.inks.ground;
    pen.lineJoin = "round";
    pen.lineWidth = 4.5;
    for (const { text, at, bold } of angleTexts(isUpper(this.main))) {
      const [x, y] = this.camera.project(at, width, height);
      if (!bold && dot(this.camera.axes[2], at) < -0.1) continue; // the pattern may be in front of it
      pen.fillStyle = bold ? AXES["xyz".indexOf(text)] : this.inks.ink;
      pen.textAlign = "center";
      pen.strokeText(text, x, y + 4);
      pen.fillText(text, x, y + 4);
    }
  },

  drawAxes(pen, height) {
    const [right, up, eye] = this.camera.axes;
    const [x, y] = [46, height - 42];
    pen.lineWidth = 1.8;
    pen.textAlign = "center";
    for (const k of [0, 1, 2].sort((a, b) => eye[a] - eye[b])) {
      const [dx, dy] = [26 * right[k], -26 * up[k]];
      pen.strokeStyle = pen.fillStyle = AXES[k];
      pen.beginPath();
      pen.moveTo(x, y);
      pen.lineTo(x + dx, y + dy);
      pen.stroke();
      pen.fillText("xyz"[k], x + 1.36 * dx, y + 1.36 * dy + 4);
    }
  },

  drawScale(pen, width, height) {
    const pixel = (2 * this.camera.half) / Math.max(1, height);
    const length = roundStep((90 * pixel) / 2.5, [1, 2, 5, 10]);
    const [end, y, wide] = [width - 16, height - 30, length / pixel];
    pen.strokeStyle = pen.fillStyle = this.inks.muted;
    pen.lineWidth = 1.5;
    pen.beginPath();
    pen.moveTo(end - wide, y - 4);
    pen.lineTo(end - wide, y);
    pen.lineTo(end, y);
    pen.lineTo(end, y - 4);
    pen.stroke();
    pen.textAlign = "right";
    pen.fillText(withUnit(this.length.factor * length, this.length.name), end, y + 16);
  },

  /** A ring at the place of an extreme, open where the body hides it, and its value, away from the middle. */
  drawFlag(pen, { layer, i, value, name }, width, height) {
    const corners = this.moved(layer);
    const place = [0, 1, 2].map((c) => corners[3 * i + c]);
    const cut = this.planeOf(layer);
    if (cut && dot(cut, place) > cut[3] + 1e-6 * this.camera.radius) return;
    const [x, y, depth] = this.camera.project(place, width, height);
    if (x < 0 || y < 0 || x > width || y > height) return;
    const first = corners.length > 3 * PICKED_FOR_FLAGS ? null : this.pick(x, y);
    const hidden = first && first.depth - dot(this.camera.axes[2], this.camera.centre) > depth + 0.01 * this.camera.radius;
    const field_ = this.field(layer);
    const text = `${name} ${withUnit(value, quantityUnit(this.shown(field_), field_))}${hidden ? ", behind" : ""}`;
    const wide = pen.measureText(text).width;
    const [tx, ty] = [clamp(x > width / 2 ? x + 26 : x - 26 - wide, 10, width - wide - 10), clamp(y + (y > height / 2 ? 30 : -30), 14, height - 14)];
    pen.lineWidth = 1.2;
    pen.strokeStyle = this.inks.ink;
    pen.beginPath();
    pen.moveTo(x, y);
    pen.lineTo(clamp(x, tx, tx + wide), ty);
    pen.stroke();
    pen.beginPath();
    pen.arc(x, y, 4, 0, 2 * Math.PI);
    pen.fillStyle = hidden ? this.inks.ground : "#c1121f";
    pen.fill();
    pen.stroke();
    boxedText(pen, text, tx, ty, this.inks);
  },

  /** The part of the picture in which the bodies lie, [left, top, right, bottom] in pixels. */
  outerBox() {
    const { clientWidth, clientHeight } = this.stage;
    const [low, high] = this.box;
    const box = [Infinity, Infinity, -Infinity, -Infinity];
    for (let k = 0; k < 8; k++) {
      const corner = [0, 1, 2].map((i) => ((k >> i) & 1 ? high[i] : low[i]));
      const [x, y] = this.camera.project(corner, clientWidth, clientHeight);
      box.splice(0, 4, Math.min(box[0], x), Math.min(box[1], y), Math.max(box[2], x), Math.max(box[3], y));
    }
    return box;
  },

  /** Show the value under a pixel in a tip beside the object, at the corner farthest from it where there is no room. */
  point(x, y) {
    const found = this.pick(x, y);
    this.tip.hidden = this.ring.hidden = !found;
    if (!found) return;
    const rows = this.describe(found).map(([name, value]) => `<span>${escaped(name)}</span><b>${escaped(value)}</b>`);
    this.tip.innerHTML = rows.join("");
    const { clientWidth, clientHeight } = this.stage;
    const [w, h] = [this.tip.offsetWidth, this.tip.offsetHeight];
    const [left, , right] = this.outerBox();
    let [tx, ty] = [right + 14, y - h / 2];
    if (tx + w > clientWidth - 4) tx = left - w - 14;
    if (tx < 4) [tx, ty] = [x < clientWidth / 2 ? clientWidth - w - 8 : 8, y < clientHeight / 2 ? clientHeight - h - 8 : 8];
    this.tip.style.left = `${tx}px`;
    this.tip.style.top = `${clamp(ty, 4, Math.max(4, clientHeight - h - 4))}px`;
    this.ring.style.left = `${x}px`;
    this.ring.style.top = `${y}px`;
  },
});
