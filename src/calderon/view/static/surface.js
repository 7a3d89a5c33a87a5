// Layers of a scene as triangles: corners in order, smooth normals, and values at corners.

const SMOOTH = Math.cos(Math.PI / 6); // faces that meet at less than 30 degrees are shaded as one

/** Geometry of a layer: vertices (3 nv), triangles (3 nt), corners (9 nt), normals (9 nt), fans (3 nt), areas (nt). */
function geometryOf(layer) {
  if (layer.kind === "grid") return gridGeometry(layer);
  if (layer.kind === "pattern") return finished(ballVertices(layer, null), ballTriangles(layer));
  return finished(unpacked(layer.vertices), unpacked(layer.triangles));
}

function finished(vertices, triangles) {
  const faces = faceVectors(vertices, triangles);
  const { fans, closed, sharp } = fansOf(triangles, faces);
  return { vertices, triangles, fans, closed, sharp, areas: faces.areas, ...expanded(vertices, triangles, fans, faces) };
}

function faceVectors(vertices, triangles) {
  const count = triangles.length / 3;
  const normals = new Float32Array(3 * count);
  const areas = new Float32Array(count);
  for (let t = 0; t < count; t++) {
    const [a, b, c] = [3 * triangles[3 * t], 3 * triangles[3 * t + 1], 3 * triangles[3 * t + 2]];
    const u = [vertices[b] - vertices[a], vertices[b + 1] - vertices[a + 1], vertices[b + 2] - vertices[a + 2]];
    const v = [vertices[c] - vertices[a], vertices[c + 1] - vertices[a + 1], vertices[c + 2] - vertices[a + 2]];
    const n = cross(u, v);
    const size = Math.hypot(...n) || 1e-30;
    areas[t] = size / 2;
    for (let i = 0; i < 3; i++) normals[3 * t + i] = n[i] / size;
  }
  return { normals, areas };
}

/** The number of the fan of each corner: corners at one vertex whose triangles meet smoothly share a fan; whether every
    edge has two triangles; and the ends (2 n) of the sharp edges, at which triangles do not meet smoothly. */
function fansOf(triangles, faces) {
  const parent = Uint32Array.from(triangles, (_, i) => i);
  const root = (i) => {
    while (parent[i] !== i) i = parent[i] = parent[parent[i]];
    return i;
  };
  const sides = new Map(); // edge -> its half edges, 3 t + i from local vertex i to the next
  let vertices = 0;
  for (const v of triangles) vertices = Math.max(vertices, v + 1);
  for (let i = 0; i < triangles.length; i++) {
    const a = triangles[i];
    const b = triangles[i % 3 === 2 ? i - 2 : i + 1];
    const key = Math.min(a, b) * vertices + Math.max(a, b);
    const known = sides.get(key);
    if (known) known.push(i);
    else sides.set(key, [i]);
  }
  let closed = true;
  const sharp = [];
  for (const halves of sides.values()) {
    const [i, j] = halves;
    const ends = [triangles[i], triangles[i % 3 === 2 ? i - 2 : i + 1]];
    closed &&= halves.length === 2;
    if (halves.length !== 2) {
      if (halves.length === 1 || !areParallel(halves.map((half) => Math.floor(half / 3)), faces.normals)) sharp.push(...ends);
      continue;
    }
    const [s, t] = [3 * Math.floor(i / 3), 3 * Math.floor(j / 3)];
    const n = faces.normals;
    if (n[s] * n[t] + n[s + 1] * n[t + 1] + n[s + 2] * n[t + 2] < SMOOTH) {
      sharp.push(...ends);
      continue;
    }
    for (const end of [i, i % 3 === 2 ? i - 2 : i + 1]) {
      for (let k = t; k < t + 3; k++) if (triangles[k] === triangles[end]) parent[root(k)] = root(end);
    }
  }
  return { fans: parent.map((_, i) => root(i)), closed, sharp };
}

/** Whether triangles lie in one plane but for 30 degrees, whichever way they face: both sides of a sheet do. */
function areParallel([first, ...others], n) {
  return others.every((t) => Math.abs(n[3 * first] * n[3 * t] + n[3 * first + 1] * n[3 * t + 1] + n[3 * first + 2] * n[3 * t + 2]) >= SMOOTH);
}

function expanded(vertices, triangles, fans, faces) {
  const corners = new Float32Array(3 * triangles.length);
  const normals = new Float32Array(3 * triangles.length);
  const sums = new Float32Array(3 * triangles.length);
  for (let i = 0; i < triangles.length; i++) {
    const t = Math.floor(i / 3);
    for (let c = 0; c < 3; c++) {
      corners[3 * i + c] = vertices[3 * triangles[i] + c];
      sums[3 * fans[i] + c] += faces.normals[3 * t + c] * faces.areas[t];
    }
  }
  for (let i = 0; i < triangles.length; i++) {
    const f = 3 * fans[i];
    const size = Math.hypot(sums[f], sums[f + 1], sums[f + 2]) || 1;
    for (let c = 0; c < 3; c++) normals[3 * i + c] = sums[f + c] / size;
  }
  return { corners, normals };
}

/** A field at corners: parts (3 nt x components) of values given at vertices, triangles, corners or nodes of a grid.
    Values on triangles are averaged over fans, weighted by areas, if smooth; large vectors that cancel at a vertex, as
    those of a current that flows from a wire to all sides, stay as they are. */
function atCorners(values, field, geometry, smooth) {
  const { triangles, fans, areas } = geometry;
  const n = field.components;
  const count = triangles.length;
  if (field.on === "corners") return values;
  const out = new Float32Array(n * count);
  if (field.on === "vertices") {
    for (let i = 0; i < count; i++) for (let c = 0; c < n; c++) out[n * i + c] = values[n * triangles[i] + c];
    return out;
  }
  if (!smooth) {
    for (let i = 0; i < count; i++) for (let c = 0; c < n; c++) out[n * i + c] = values[n * Math.floor(i / 3) + c];
    return out;
  }
  const sums = new Float64Array(n * count);
  const weights = new Float64Array(count);
  const sizes = new Float64Array(count);
  const size = (of, k) => Math.hypot(...of.subarray(n * k, n * k + n));
  let largest = 0;
  for (let i = 0; i < count; i++) {
    const t = Math.floor(i / 3);
    if (Number.isNaN(values[n * t])) continue;
    weights[fans[i]] += areas[t];
    sizes[fans[i]] += areas[t] * size(values, t);
    largest = Math.max(largest, size(values, t));
    for (let c = 0; c < n; c++) sums[n * fans[i] + c] += areas[t] * values[n * t + c];
  }
  for (let i = 0; i < count; i++) {
    const f = fans[i];
    const cancel = n === 3 && sizes[f] > 0.3 * weights[f] * largest && size(sums, f) < 0.3 * sizes[f];
    for (let c = 0; c < n; c++) {
      out[n * i + c] = !weights[f] ? NaN : cancel ? values[n * Math.floor(i / 3) + c] : sums[n * f + c] / weights[f];
    }
  }
  return out;
}

/** A rectangle of nodes (rows, columns) as triangles. */
function gridGeometry(layer) {
  const [rows, columns] = layer.shape;
  const vertices = new Float32Array(3 * rows * columns);
  for (let r = 0; r < rows; r++) {
    for (let k = 0; k < columns; k++) {
      for (let c = 0; c < 3; c++) {
        const along = columns > 1 ? (layer.along[c] * k) / (columns - 1) : 0;
        const across = rows > 1 ? (layer.across[c] * r) / (rows - 1) : 0;
        vertices[3 * (r * columns + k) + c] = layer.origin[c] + along + across;
      }
    }
  }
  const triangles = new Uint32Array(6 * (rows - 1) * (columns - 1));
  let at = 0;
  for (let r = 0; r + 1 < rows; r++) {
    for (let k = 0; k + 1 < columns; k++) {
      const a = r * columns + k;
      triangles.set([a, a + 1, a + columns + 1, a, a + columns + 1, a + columns], at);
      at += 6;
    }
  }
  const faces = faceVectors(vertices, triangles);
  const fans = Uint32Array.from(triangles, (_, i) => i);
  const [last, first] = [rows * columns - 1, (rows - 1) * columns];
  const sharp = [0, columns - 1, columns - 1, last, last, first, first, 0];
  return { vertices, triangles, fans, sharp, areas: faces.areas, ...expanded(vertices, triangles, fans, faces) };
}

/** Values at nodes of a grid, those without one from the mean of the eight around them that have one. */
function continued(values, components, [rows, columns]) {
  const out = values.slice();
  for (let v = 0; v < rows * columns; v++) {
    if (!Number.isNaN(values[components * v])) continue;
    const sums = new Array(components).fill(0);
    let count = 0;
    for (let r = Math.max(0, Math.floor(v / columns) - 1); r <= Math.min(rows - 1, Math.floor(v / columns) + 1); r++) {
      for (let k = Math.max(0, (v % columns) - 1); k <= Math.min(columns - 1, (v % columns) + 1); k++) {
        const w = components * (r * columns + k);
        if (Number.isNaN(values[w])) continue;
        count += 1;
        for (let c = 0; c < components; c++) sums[c] += values[w + c];
      }
    }
    if (count) for (let c = 0; c < components; c++) out[components * v + c] = sums[c] / count;
  }
  return out;
}

/** Vertices of a pattern: directions theta (rows, 0 to pi) and phi (columns, 0 to 2 pi), radii by levels in decibels. */
function ballVertices(layer, radii) {
  const [rows, columns] = layer.shape;
  const vertices = new Float32Array(3 * rows * columns);
  for (let r = 0; r < rows; r++) {
    const theta = (Math.PI * r) / (rows - 1);
    for (let k = 0; k < columns; k++) {
      const phi = (2 * Math.PI * k) / columns;
      const v = r * columns + k;
      const radius = radii ? radii[v] : 1;
      vertices[3 * v] = radius * Math.sin(theta) * Math.cos(phi);
      vertices[3 * v + 1] = radius * Math.sin(theta) * Math.sin(phi);
      vertices[3 * v + 2] = radius * Math.cos(theta);
    }
  }
  return vertices;
}

function ballTriangles(layer) {
  const [rows, columns] = layer.shape;
  const triangles = [];
  for (let r = 0; r + 1 < rows; r++) {
    for (let k = 0; k < columns; k++) {
      const [a, b] = [r * columns + k, r * columns + ((k + 1) % columns)];
      if (r + 2 < rows) triangles.push(a, a + columns, b + columns);
      if (r > 0) triangles.push(a, b + columns, b);
    }
  }
  return Uint32Array.from(triangles);
}

function cross(u, v) {
  return [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]];
}
