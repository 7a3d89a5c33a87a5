// Lines of a scene: edges of faces, the undeformed body, and the angles of a pattern.

const TURNS = 72; // sides of a circle

/** The corners of lines (3 n) from vertices (3 nv) and the vertices at their ends (n). */
function linePoints(vertices, ends) {
  const points = new Float32Array(3 * ends.length);
  ends.forEach((v, i) => points.set(vertices.subarray(3 * v, 3 * v + 3), 3 * i));
  return points;
}

/** Put the sharp edges of a layer on the card, once for each of its shapes. */
function outlineOf(layer, painter) {
  if (layer.outline?.of === layer.geometry) return layer.outline;
  const { vertices, sharp } = layer.geometry;
  const points = linePoints(vertices, sharp);
  let length = 0;
  for (let i = 0; i < points.length; i += 6) length += Math.hypot(points[i + 3] - points[i], points[i + 4] - points[i + 1], points[i + 5] - points[i + 2]);
  const width = (2 * layer.geometry.areas.reduce((sum, area) => sum + area, 0)) / (length || 1); // of a strip, or a side of a cube
  layer.outline = { ...layer.outline, of: layer.geometry, count: sharp.length, width };
  for (const [name, array] of [["position", points], ["normal", null], ["re", null], ["im", null]]) painter.upload(layer.outline, name, array, 3);
  painter.upload(layer.outline, "shift", layer.displacement ? linePoints(unpacked(layer.displacement), sharp) : null, 3);
  return layer.outline;
}

/** The circles theta = 90 degrees and phi = 0 or 90 degrees around a pattern, and its axes, as lines (6 n); above: the
    half with z > 0 alone. */
function anglesAround(above, radius = 1) {
  const points = [];
  const on = (k, i) => {
    const angle = (2 * Math.PI * i) / TURNS;
    const [c, s] = [radius * Math.cos(angle), radius * Math.sin(angle)];
    return [[0, c, s], [c, 0, s], [c, s, 0]][k];
  };
  const kept = (k, i) => !above || k === 2 || on(k, i)[2] + on(k, i + 1)[2] > 0;
  for (let k = 0; k < 3; k++) for (let i = 0; i < TURNS; i++) if (kept(k, i)) points.push(...on(k, i), ...on(k, i + 1));
  for (let k = 0; k < 3; k++) points.push(0, 0, 0, ...[0, 1, 2].map((c) => (c === k ? 1.18 * radius : 0)));
  return Float32Array.from(points);
}

/** Whether a pattern has nothing below its equator. */
function isUpper({ geometry }) {
  for (let i = 2; i < geometry.vertices.length; i += 3) if (geometry.vertices[i] < -0.05) return false;
  return true;
}

/** Texts at places of that grid: azimuths in the plane theta = 90 degrees, and angles theta in the plane phi = 0. */
function angleTexts(above, radius = 1) {
  const found = ["x", "y", "z"].map((text, k) => ({ text, bold: true, at: [0, 1, 2].map((c) => (c === k ? 1.26 * radius : 0)) }));
  for (let degrees = 30; degrees < 360; degrees += 30) {
    const angle = (degrees * Math.PI) / 180;
    const [c, s] = [1.09 * radius * Math.cos(angle), 1.09 * radius * Math.sin(angle)];
    if (degrees % 90) found.push({ text: `φ ${degrees}°`, at: [c, s, 0] });
    if (degrees % 90 && degrees < (above ? 90 : 180)) found.push({ text: `θ ${degrees}°`, at: [s, 0, c] });
  }
  return found;
}
