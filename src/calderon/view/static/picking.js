// The point of a surface under a pixel.

/** {t, weights, depth, point} of the nearest triangle of a layer under the pixel (x, y), or null.
    corners (9 nt): of its triangles; cut (x, y, z, w): what lies beyond is not seen; skip(t): triangles not drawn. */
function hit(corners, camera, width, height, x, y, cut, skip) {
  const pixel = (2 * camera.half) / height;
  const [right, up, eye] = camera.axes;
  const sx = dot(right, camera.centre) + (x - width / 2) * pixel;
  const sy = dot(up, camera.centre) - (y - height / 2) * pixel;
  let best = null;
  for (let t = 0; t < corners.length / 9; t++) {
    const k = 9 * t;
    const ax = right[0] * corners[k] + right[1] * corners[k + 1] + right[2] * corners[k + 2] - sx;
    const bx = right[0] * corners[k + 3] + right[1] * corners[k + 4] + right[2] * corners[k + 5] - sx;
    const cx = right[0] * corners[k + 6] + right[1] * corners[k + 7] + right[2] * corners[k + 8] - sx;
    if ((ax > 0 && bx > 0 && cx > 0) || (ax < 0 && bx < 0 && cx < 0)) continue;
    const ay = up[0] * corners[k] + up[1] * corners[k + 1] + up[2] * corners[k + 2] - sy;
    const by = up[0] * corners[k + 3] + up[1] * corners[k + 4] + up[2] * corners[k + 5] - sy;
    const cy = up[0] * corners[k + 6] + up[1] * corners[k + 7] + up[2] * corners[k + 8] - sy;
    const [u, v, w] = [bx * cy - by * cx, cx * ay - cy * ax, ax * by - ay * bx];
    if ((u < 0 || v < 0 || w < 0) && (u > 0 || v > 0 || w > 0)) continue;
    const sum = u + v + w;
    if (sum === 0 || (skip && skip(t))) continue;
    const weights = [u / sum, v / sum, w / sum];
    const point = [0, 1, 2].map((i) => weights[0] * corners[k + i] + weights[1] * corners[k + 3 + i] + weights[2] * corners[k + 6 + i]);
    if (cut && dot(cut, point) > cut[3]) continue;
    const depth = dot(eye, point);
    if (!best || depth > best.depth) best = { t, weights, depth, point };
  }
  return best;
}
