// Arrows: of vector fields at the present moment, on the triangles nearest to the eye, and those that a scene lists.

const ARROW_SPACING = 27; // pixels
const INK = "#1c2127"; // of arrows without a colour of their own
const MOST_ARROWS_FROM = 60000; // triangles that are looked at

/** Draw the arrows of all visible vector fields with a 2-D pen, in pixels of the page. */
function drawArrows(view, pen, width, height) {
  const [right, up] = view.camera.axes;
  const cells = new Map(); // the triangle nearest to the eye in each square of the screen
  for (const layer of view.visible()) if (layer.kind !== "pattern") nearest(cells, view, layer, width, height);
  const path = new Path2D();
  for (const { layer, t, x, y } of cells.values()) {
    if (view.field(layer)?.components !== 3 || !layer.re) continue;
    const now = momentAt(layer, t, view.turn);
    const scale = (1.25 * ARROW_SPACING) / (layer.extremes.largest || 1);
    const [dx, dy] = [scale * dot(right, now), -scale * dot(up, now)];
    const [sx, sy] = besideThin(cells, x, y, dx, dy);
    addArrow(path, x + sx, y + sy, dx, dy);
  }
  pen.lineCap = pen.lineJoin = "round";
  for (const [colour, thickness] of [["rgb(20 24 28 / 0.75)", 3.2], ["#ffffff", 1.4]]) {
    pen.strokeStyle = colour;
    pen.lineWidth = thickness;
    pen.stroke(path);
  }
}

const cellOf = (x, y) => Math.floor(x / ARROW_SPACING) * 10000 + Math.floor(y / ARROW_SPACING);

/** By how many pixels an arrow is moved upward and off a body that is no wider than itself, which it would hide. */
function besideThin(cells, x, y, dx, dy) {
  const length = Math.hypot(dx, dy) || 1;
  const [ux, uy] = dx < 0 ? [dy / length, -dx / length] : [-dy / length, dx / length];
  const across = (k) => cells.has(cellOf(x + k * ARROW_SPACING * ux, y + k * ARROW_SPACING * uy));
  return across(1.6) || across(-1.6) ? [0, 0] : [-11 * ux, -11 * uy]; // beyond a square's diagonal
}

/** Put the triangles of a layer that are nearer to the eye than those known into the squares of the screen. */
function nearest(cells, view, layer, width, height) {
  const { camera, factor } = view;
  const eye = camera.axes[2];
  const { corners, normals, closed } = layer.geometry;
  const cut = view.planeOf(layer);
  const count = corners.length / 9;
  const step = Math.ceil(count / MOST_ARROWS_FROM);
  for (let t = 0; t < count; t += step) {
    const k = 9 * t;
    if (closed && !cut && normals[k] * eye[0] + normals[k + 1] * eye[1] + normals[k + 2] * eye[2] < 0.08) continue;
    if (layer.kind === "grid" && layer.re && Number.isNaN(layer.re[view.field(layer).components * 3 * t])) continue;
    const place = [0, 1, 2].map((i) => (corners[k + i] + corners[k + 3 + i] + corners[k + 6 + i]) / 3 + (layer.shift ? factor * layer.shift[k + i] : 0));
    if (cut && dot(cut, place) > cut[3]) continue;
    const [x, y, depth] = camera.project(place, width, height);
    if (x < 0 || y < 0 || x > width || y > height) continue;
    const cell = cellOf(x, y);
    const known = cells.get(cell);
    if (!known || depth > known.depth) cells.set(cell, { layer, t, x, y, depth });
  }
}

/** Re(v exp(-i omega t)) at the centroid of a triangle. */
function momentAt({ re, im }, t, [c, s]) {
  return [0, 1, 2].map((i) => {
    const mean = (array) => (array ? (array[9 * t + i] + array[9 * t + 3 + i] + array[9 * t + 6 + i]) / 3 : 0);
    return mean(re) * c + mean(im) * s;
  });
}

function addArrow(path, x, y, dx, dy) {
  const length = Math.hypot(dx, dy);
  if (!(length > 4)) return;
  const [ux, uy] = [dx / length, dy / length];
  const head = Math.min(6, 0.45 * length);
  const [tx, ty] = [x + dx / 2, y + dy / 2];
  path.moveTo(x - dx / 2, y - dy / 2);
  path.lineTo(tx, ty);
  path.moveTo(tx - head * (ux + 0.6 * uy), ty - head * (uy - 0.6 * ux));
  path.lineTo(tx, ty);
  path.lineTo(tx - head * (ux - 0.6 * uy), ty - head * (uy + 0.6 * ux));
}

/** Arrows that a scene lists, from their places on; of principal stresses, double ones about their places, outward
    where the size is positive and inward where it is negative. Those whose normals look away are hidden. */
function drawPointers(view, pen, { places, vectors, normals, signs, colours, texts }, width, height) {
  const eye = view.camera.axes[2];
  const taken = new Set();
  const paths = colours.map(() => new Path2D());
  for (let i = 0; i < places.length; i += 3) {
    if (normals && normals[i] * eye[0] + normals[i + 1] * eye[1] + normals[i + 2] * eye[2] < 0.1) continue;
    const place = [places[i], places[i + 1], places[i + 2]];
    const [x, y] = view.camera.project(place, width, height);
    const [tx, ty] = view.camera.project(place.map((c, k) => c + vectors[i + k]), width, height);
    if (!signs) {
      addArrow(paths[0], (x + tx) / 2, (y + ty) / 2, tx - x, ty - y);
      const text = texts?.[i / 3];
      if (text) boxedText(pen, text, clamp(tx > x ? x - 8 - pen.measureText(text).width : x + 8, 8, width - 8 - pen.measureText(text).width), clamp(y + (ty > y ? -18 : 18), 14, height - 14), view.inks);
      continue;
    }
    const cell = `${Math.floor(x / ARROW_SPACING)} ${Math.floor(y / ARROW_SPACING)} ${i % 2}`;
    if (taken.has(cell)) continue; // neighbours in the list are the two stresses of one triangle
    taken.add(cell);
    const s = signs[i / 3] > 0 ? 1 : -1;
    for (const side of [1, -1]) {
      const [dx, dy] = [(side * (tx - x)) / 2, (side * (ty - y)) / 2];
      addArrow(paths[s > 0 ? 0 : 1], x + dx / 2, y + dy / 2, s * dx, s * dy);
    }
  }
  pen.lineJoin = "round";
  paths.forEach((path, k) => {
    const [own, around] = colours[k] === INK ? [view.inks.ink, view.inks.ground] : [colours[k], "rgb(255 255 255 / 0.8)"];
    for (const [colour, thickness] of [[around, 3.6], [own, 1.9]]) {
      pen.strokeStyle = colour;
      pen.lineWidth = thickness;
      pen.stroke(path);
    }
  });
}

/** The phase at which the integral of |Re(v exp(-i phase))|^2 over a surface is largest: half that of int v . v. */
function strongestPhase({ re, im, geometry }) {
  let [real, imaginary] = [0, 0];
  for (let i = 0; i < re.length; i++) {
    if (Number.isNaN(re[i])) continue;
    const area = geometry.areas[Math.floor(i / 9)];
    real += area * (re[i] ** 2 - im[i] ** 2);
    imaginary += area * 2 * re[i] * im[i];
  }
  const phase = Math.atan2(imaginary, real) / 2;
  return phase < 0 ? phase + 2 * Math.PI : phase;
}
