// A scene: its layers, what is shown of them, and the mouse.

const STILL = [1, 0];
const NOWHERE = [0, 0, 0, 1]; // a plane that takes nothing off
const NARROW = 560; // pixels, of a telephone
const TOOLS = 40;

class View {
  constructor(root, scene) {
    Object.assign(this, { root, scene, step: scene.steps?.first ?? 0, phase: 0, axis: -1, playing: "" });
    this.canvas = root.querySelector("canvas");
    this.stage = this.canvas.parentElement;
    this.layers = scene.layers.map((layer) => ({ ...layer, geometry: geometryOf(layer), on: !layer.hidden, chosen: 0, cache: {} }));
    this.pointers = (scene.arrows || []).map((each) => ({ ...each, on: !each.hidden, ...unpackedParts(each, ["places", "vectors", "normals", "signs"]) }));
    this.painter = new Painter(this.canvas);
    this.main = this.layers.find((layer) => layer.fields.length) || this.layers[0];
    this.quantity = this.field(this.main)?.quantity || "abs";
    this.edges = Boolean(scene.edges);
    this.outlines = this.smooth = true;
    this.bands = this.isolines = false;
    this.flags = Boolean(scene.flags);
    this.own = Boolean(scene.steps?.own);
    this.factor = scene.factor ?? 0;
    this.cut = { axis: -1, at: 0.5 };
    this.limits = {};
    this.camera = new Camera(...this.sphere());
    // small bodies are measured in millimetres
    this.length = scene.length === "m" && this.camera.radius < 0.15 ? { name: "mm", factor: 1000 } : { name: scene.length, factor: 1 };
    this.eye = scene.eye || (isFlat(this.box) ? [-58, 52] : null);
    if (this.eye) this.camera.look("iso", this.eye);
    for (const layer of this.layers) this.load(layer);
    const flow = this.layers.find((layer) => this.field(layer)?.components === 3 && this.field(layer).on === "triangles");
    this.arrows = Boolean(flow) && this.quantity !== "db";
    if (flow?.im) this.phase = strongestPhase(flow);
    this.decorate();
    this.fit();
    new ResizeObserver(() => this.resized()).observe(this.stage);
    root.calderon = this;
  }

  field(layer) {
    return layer.fields[Math.min(layer.chosen, layer.fields.length - 1)];
  }

  /** Values of the present step, or null where a layer has none. */
  values(layer) {
    const given = this.field(layer)?.values;
    return given ? (given.length === 1 ? given[0] : given[this.step]) : null;
  }

  visible() {
    return this.layers.filter((layer) => layer.on && (!layer.fields.length || this.values(layer)));
  }

  sphere() {
    const [low, high] = [[Infinity, Infinity, Infinity], [-Infinity, -Infinity, -Infinity]];
    const bodies = this.layers.filter((layer) => layer.kind !== "grid");
    for (const { geometry } of bodies.length ? bodies : this.layers) {
      geometry.corners.forEach((x, i) => {
        low[i % 3] = Math.min(low[i % 3], x);
        high[i % 3] = Math.max(high[i % 3], x);
      });
    }
    this.box = [low, high];
    const centre = low.map((x, i) => (x + high[i]) / 2);
    return [centre, Math.hypot(...low.map((x, i) => high[i] - x)) / 2 || 1];
  }

  /** Arrays of a layer for the present field and step, on the card and for picking. */
  load(layer) {
    const { cache } = layer;
    const field = this.field(layer);
    const key = `${layer.chosen} ${field?.values.length > 1 ? this.step : 0} ${this.smooth}`;
    if (cache.key === key) return;
    const values = this.values(layer);
    if (field && !values) return;
    cache.key = key;
    if (layer.kind === "pattern" && values) this.shape(layer, unpacked(values.re));
    const { geometry } = layer;
    const parts = { re: null, im: null };
    if (values) {
      for (const part of ["re", "im"]) {
        if (values[part]) parts[part] = atCorners(unpacked(values[part]), field, geometry, this.smooth);
      }
      layer.extremes = extremesOf(parts, field);
    }
    Object.assign(layer, parts);
    const put = (name, array, size) => this.painter.upload(layer, name, array, size);
    put("position", geometry.corners, 3);
    put("normal", geometry.normals, 3);
    for (const part of ["re", "im"]) {
      let shown = parts[part];
      if (shown && (layer.filled || layer.side)) shown = atCorners(continued(unpacked(values[part]), field.components, layer.shape), field, geometry);
      put(part, shown?.map((x) => (Number.isNaN(x) ? NOTHING : x)), field?.components);
    }
    layer.shift = layer.displacement ? atCorners(unpacked(layer.displacement), { on: "vertices", components: 3 }, geometry) : null;
    put("shift", layer.shift, 3);
  }

  /** The body of a pattern: its radius is the level above the floor. */
  shape(layer, levels) {
    const field = this.field(layer);
    let top = -Infinity;
    for (const packed of field.values) if (packed) for (const x of unpacked(packed.re)) top = Math.max(top, x);
    const span = field.depth || 40;
    const radii = levels.map((x) => Math.max(0.01, (x - top + span) / span));
    layer.geometry = finished(ballVertices(layer, radii), layer.geometry.triangles);
  }

  component(field) {
    return field?.components === 3 ? this.axis : -1;
  }

  /** The quantity shown of a field: the chosen one if it has it. */
  shown(field) {
    const known = quantitiesOf(field, this.component(field));
    return known.includes(this.quantity) ? this.quantity : known[0];
  }

  /** Fields with one unit share a range. */
  key(field) {
    return [field.unit || field.symbol, this.shown(field), this.component(field)].join("|");
  }

  range(field) {
    const key = this.key(field);
    const extremes = { largest: 0, low: Infinity, high: -Infinity };
    for (const layer of this.layers) {
      if (!layer.extremes || this.key(this.field(layer)) !== key) continue;
      const known = this.extremes(layer);
      extremes.largest = Math.max(extremes.largest, known.largest);
      extremes.low = Math.min(extremes.low, known.low);
      extremes.high = Math.max(extremes.high, known.high);
    }
    return { ...rangeOf(this.shown(field), field, this.component(field), extremes), ...this.limits[key] };
  }

  /** Extremes over all steps, so that colours mean the same in all of them, or of this one. */
  extremes(layer) {
    const field = this.field(layer);
    const own = this.own && field.values.length > 1;
    const key = `${layer.chosen} ${this.smooth} ${this.component(field)} ${own ? this.step : ""}`;
    if (layer.cache.range?.key !== key) {
      const whole = { key, largest: 0, low: Infinity, high: -Infinity };
      for (const values of own ? [field.values[this.step]] : field.values) {
        if (!values) continue;
        const parts = {};
        for (const part of ["re", "im"]) {
          parts[part] = values[part] ? atCorners(unpacked(values[part]), field, layer.geometry, this.smooth) : null;
        }
        const found = extremesOf(parts, field, this.component(field));
        whole.largest = Math.max(whole.largest, found.largest);
        whole.low = Math.min(whole.low, found.low);
        whole.high = Math.max(whole.high, found.high);
      }
      layer.cache.range = whole;
    }
    return layer.cache.range;
  }

  get turn() {
    return this.phase ? [Math.cos(this.phase), Math.sin(this.phase)] : STILL;
  }

  /** The plane beyond which surfaces are cut away, or null. */
  get plane() {
    const { axis, at } = this.cut;
    if (axis < 0) return null;
    const [low, high] = this.box;
    const normal = [0, 1, 2].map((i) => (i === axis ? 1 : 0));
    return [...normal, low[axis] + at * (high[axis] - low[axis])];
  }

  planeOf(layer) {
    if (layer.kind === "grid") return null;
    return this.plane || (this.opened && layer.open && this.layers.some((each) => each.on && each.kind === "grid") ? layer.open : null);
  }

  fit() {
    const clouds = this.visible().map((layer) => (layer.kind === "pattern" ? anglesAround(isUpper(layer), 1.12) : this.moved(layer)));
    for (const each of this.pointers) if (each.on && each.texts) clouds.push(each.places, each.places.map((x, i) => x + each.vectors[i]));
    const { clientWidth, clientHeight } = this.stage;
    const above = clientWidth < NARROW ? TOOLS / Math.max(2 * TOOLS, clientHeight) : 0; // the buttons are over the body
    this.camera.fit(clouds, clientWidth / Math.max(1, clientHeight), above);
    this.fitted = true;
    this.redraw();
  }

  resized() {
    if (this.fitted) this.fit();
    else this.redraw();
  }

  redraw() {
    if (this.waiting) return;
    this.waiting = requestAnimationFrame(() => {
      this.waiting = 0;
      this.draw();
    });
  }

  draw() {
    const { canvas, stage, painter, camera } = this;
    const ratio = Math.min(2, window.devicePixelRatio || 1);
    const [width, height] = [stage.clientWidth, stage.clientHeight].map((x) => Math.max(1, Math.round(x * ratio)));
    if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
    const style = getComputedStyle(this.root);
    const colour = (name) => style.getPropertyValue(name).trim().match(/\w\w/g).map((x) => parseInt(x, 16) / 255);
    const [, up, eye] = camera.axes;
    painter.begin(width, height);
    const plain = { edge: colour("--cv-edge"), empty: colour("--cv-empty"), eye, up, turn: this.turn };
    const look = { camera: camera.matrix(width / height), plain, steel: colour("--cv-steel"), muted: colour("--cv-muted") };
    const shown = this.visible().sort((a, b) => (this.opacity(a) < 1) - (this.opacity(b) < 1));
    const removed = shown.map((layer) => this.paint(layer, look));
    for (const drawn of removed) drawn?.();
    const flat = this.flat.getContext("2d");
    Object.assign(this.flat, { width, height });
    flat.scale(ratio, ratio);
    this.overlay(flat, stage.clientWidth, stage.clientHeight);
  }

  /** Planes beside a body with values let it shine through; other layers as the scene says. */
  opacity(layer) {
    if (layer.opacity !== undefined) return layer.opacity;
    if (this.opened && this.layers.some((each) => each.open)) return 1; // what was before it is taken off
    return layer.kind === "grid" && this.visible().some((each) => each.kind === "surface" && each.fields.length) ? 0.85 : 1;
  }

  /** A layer with its outline; look: the camera and the colours of the page. What draws the outline of the side that is
      taken off over all layers, where one is. */
  paint(layer, { camera, plain, steel, muted }) {
    const { painter } = this;
    this.load(layer);
    const field = this.field(layer);
    const range = field ? this.range(field) : { low: 0, high: 1, map: "viridis" };
    const axis = this.component(field);
    const { first, step } = barOf(range).levels;
    const body = layer.kind === "surface";
    const uniforms = {
      ...plain,
      camera,
      factor: this.factor,
      plain: layer.colour ? hexColour(layer.colour) : steel,
      quantity: field ? QUANTITIES[this.shown(field)].code : 0,
      components: field?.components === 3 && axis < 0 ? 3 : 1,
      chosen: field?.components === 3 && axis >= 0 ? [0, 1, 2].map((i) => +(i === axis)) : [1, 1, 1],
      decibels: field?.power ? 5 : 10,
      range: [range.low, range.high],
      levels: [first, step || 1],
      banded: this.bands ? 1 : 0,
      lined: this.isolines ? 1 : 0,
      reverse: range.reverse ? 1 : 0,
      cut: this.planeOf(layer) || NOWHERE,
      lit: layer.kind === "grid" ? 0 : 1,
      edges: this.edges && body ? 0.55 : 0,
      painted: field ? 1 : 0,
      opacity: this.opacity(layer),
    };
    if (layer.side) this.clip(layer, uniforms);
    painter.draw(layer, layer.geometry.triangles.length, range.map, uniforms, body || layer.kind === "pattern");
    if (layer.side) painter.everywhere();
    const lines = { ...uniforms, painted: 0, lit: 0, edges: 0, opacity: 1 };
    if (layer.kind === "pattern") this.paintAngles({ ...lines, plain: muted });
    if (!this.outlines || layer.kind === "pattern") return null;
    const outline = outlineOf(layer, painter);
    const pixels = (outline.width * this.stage.clientHeight) / (2 * this.camera.half);
    const opacity = Math.min(1, (pixels / 12) ** 2);
    painter.draw(outline, outline.count, "viridis", { ...lines, plain: plain.edge, opacity }, false, true);
    if (body && layer.displacement && this.factor) painter.draw(outline, outline.count, "viridis", { ...lines, plain: muted, factor: 0, opacity: 0.6 }, false, true);
    if (!this.plane && uniforms.cut !== NOWHERE) return () => painter.draw(outline, outline.count, "viridis", { ...lines, cut: NOWHERE, plain: steel, opacity: 0.9 * opacity }, false, true);
    return null;
  }

  /** Let a plane be drawn on one side of the bodies alone, exactly to their surface. */
  clip(layer, uniforms) {
    const { eye } = uniforms;
    const { corners, normals } = layer.geometry;
    const sign = dot(normals, eye) < 0 ? -1 : 1;
    const normal = [0, 1, 2].map((i) => sign * normals[i]);
    const bodies = this.layers.filter((each) => each.kind === "surface" && each.opacity === undefined);
    for (const each of bodies) this.load(each);
    this.painter.within(bodies, layer.side === "inside", { ...uniforms, factor: 0, painted: 0, cut: [...normal, dot(normal, corners)], opacity: 1 });
  }

  /** Circles and axes around a pattern. */
  paintAngles(uniforms) {
    const above = isUpper(this.main);
    if (this.angles?.above !== above) {
      const points = anglesAround(above);
      this.angles = { ...this.angles, above, count: points.length / 3 };
      for (const [name, array] of [["position", points], ["normal", null], ["shift", null], ["re", null], ["im", null]]) this.painter.upload(this.angles, name, array, 3);
    }
    this.painter.draw(this.angles, this.angles.count, "viridis", { ...uniforms, opacity: 0.7 }, false, true);
  }

  /** What lies under the pixel: {layer, t, weights, point, ...} or null. */
  pick(x, y) {
    const { clientWidth, clientHeight } = this.stage;
    let best = null;
    for (const layer of this.visible()) {
      const skip = layer.kind === "grid" && layer.re ? (t) => [0, 1, 2].some((i) => Number.isNaN(layer.re[this.field(layer).components * (3 * t + i)])) : null;
      const found = hit(this.moved(layer), this.camera, clientWidth, clientHeight, x, y, this.planeOf(layer), skip);
      if (found && (!best || found.depth > best.depth)) best = { layer, ...found };
    }
    return best;
  }

  moved(layer) {
    const { corners } = layer.geometry;
    return layer.shift && this.factor ? corners.map((x, i) => x + this.factor * layer.shift[i]) : corners;
  }

  /** The interpolated real and imaginary parts at a hit. */
  valueAt({ layer, t, weights }) {
    const n = this.field(layer).components;
    const at = (array) => Array.from({ length: n }, (_, c) => (array ? weights.reduce((sum, w, i) => sum + w * array[n * (3 * t + i) + c], 0) : 0));
    return [at(layer.re), at(layer.im)];
  }

  /** Lines of text on a hit. */
  describe(found) {
    const { layer, t, point } = found;
    const lines = [];
    const field = this.field(layer);
    if (field) {
      const [re, im] = this.valueAt(found);
      const quantity = this.shown(field);
      const axis = this.component(field);
      const value = shownValue(re, im, quantity, axis, this.turn, field.power);
      lines.push([quantityName(quantity, field, axis), withUnit(value, quantityUnit(quantity, field))]);
      if (field.complex && (field.components === 1 || axis >= 0)) {
        const k = Math.max(0, axis);
        lines.push(["complex", `${complexText(re[k], im[k])} ${field.unit}`]);
      }
    }
    if (layer.kind === "pattern") {
      const polar = Math.acos(point[2] / Math.hypot(...point));
      const degrees = [polar, (Math.atan2(point[1], point[0]) + 2 * Math.PI) % (2 * Math.PI)].map((x) => (x * 180) / Math.PI);
      lines.push(["direction", `θ ${degrees[0].toFixed(1)}°, φ ${degrees[1].toFixed(1)}°`]);
      return lines;
    }
    lines.push(["at", `(${point.map((x) => numberText(Math.abs(x) < 1e-6 * this.camera.radius ? 0 : this.length.factor * x)).join(", ")}) ${this.length.name}`]);
    if (layer.kind === "surface" && this.layers.length > 1) lines[field ? "push" : "unshift"](["part", layer.name]);
    if (layer.kind === "surface") lines.push(["triangle", String(layer.numbers ? (layer.names ||= unpacked(layer.numbers))[t] : t)]);
    return lines;
  }
}

/** The largest magnitude of values at corners, and the least and largest real part (or component). */
function extremesOf({ re, im }, field, axis = -1) {
  const n = field.components;
  let [largest, low, high] = [0, Infinity, -Infinity];
  for (let i = 0; i < re.length; i += n) {
    let square = 0;
    for (let c = 0; c < n; c++) if (axis < 0 || c === axis) square += re[i + c] ** 2 + (im ? im[i + c] ** 2 : 0);
    if (square > largest) largest = square;
    const x = re[i + Math.max(0, axis)];
    if (x < low) low = x;
    if (x > high) high = x;
  }
  return { largest: Math.sqrt(largest), low, high };
}

/** The packed arrays of an object among the named ones. */
function unpackedParts(packed, names) {
  return Object.fromEntries(names.filter((name) => packed[name]).map((name) => [name, unpacked(packed[name])]));
}

/** Whether bodies cover a horizontal plane, but for a twentieth of their size: from above one sees more of them. */
function isFlat([low, high]) {
  const [x, y, z] = low.map((c, i) => high[i] - c);
  return z < 0.05 * Math.min(x, y) && Math.min(x, y) > 0.2 * Math.max(x, y);
}

function hexColour(text) {
  return text.match(/\w\w/g).map((x) => parseInt(x, 16) / 255);
}
