// An orthographic camera that turns about a vertical axis: the scale bar holds everywhere in the picture.

const DIRECTIONS = { iso: [-58, 24], top: [-90, 90], front: [0, 0], side: [-90, 0] };

class Camera {
  constructor(centre, radius) {
    Object.assign(this, { centre: [...centre], home: [...centre], radius, azimuth: 0, elevation: 0, half: radius });
    this.look("iso");
  }

  look(name, eye) {
    [this.azimuth, this.elevation] = (eye || DIRECTIONS[name]).map((x) => (x * Math.PI) / 180);
  }

  /** right, up and toward the eye: rows of the rotation, as calderon.plots.painter. */
  get axes() {
    const [sa, ca] = [Math.sin(this.azimuth), Math.cos(this.azimuth)];
    const [se, ce] = [Math.sin(this.elevation), Math.cos(this.elevation)];
    return [[-sa, ca, 0], [-se * ca, -se * sa, ce], [ce * ca, ce * sa, se]];
  }

  /** The matrix (16, by columns) from coordinates to the screen; aspect: width over height. */
  matrix(aspect) {
    const rows = this.axes;
    const scale = [1 / (this.half * aspect), 1 / this.half, -1 / (4 * this.radius + 4 * this.half)];
    const m = new Float32Array(16);
    for (let r = 0; r < 3; r++) {
      for (let c = 0; c < 3; c++) m[4 * c + r] = scale[r] * rows[r][c];
      m[12 + r] = -scale[r] * dot(rows[r], this.centre);
    }
    m[15] = 1;
    return m;
  }

  /** Pixels (x, y) and depth toward the eye of a point on a canvas of the given size. */
  project(point, width, height) {
    const d = [0, 1, 2].map((i) => point[i] - this.centre[i]);
    const [x, y, z] = this.axes.map((row) => dot(row, d));
    const pixel = (2 * this.half) / height;
    return [width / 2 + x / pixel, height / 2 - y / pixel, z];
  }

  /** Show all points (3 n) in a window of the given shape, below the part of its height that is covered. */
  fit(clouds, aspect, above = 0) {
    const rows = this.axes;
    const [low, high] = [[Infinity, Infinity], [-Infinity, -Infinity]];
    for (const points of clouds) {
      for (let i = 0; i < points.length; i += 3) {
        for (let k = 0; k < 2; k++) {
          const s = rows[k][0] * points[i] + rows[k][1] * points[i + 1] + rows[k][2] * points[i + 2];
          low[k] = Math.min(low[k], s);
          high[k] = Math.max(high[k], s);
        }
      }
    }
    if (!(high[0] >= low[0])) return;
    const depth = dot(rows[2], this.home);
    const middle = [0, 1].map((k) => (low[k] + high[k]) / 2);
    this.half = 0.56 * Math.max((high[1] - low[1]) / (1 - above), (high[0] - low[0]) / aspect, 0.05 * this.radius);
    middle[1] += 0.6 * above * this.half; // the axes are below
    this.centre = [0, 1, 2].map((i) => middle[0] * rows[0][i] + middle[1] * rows[1][i] + depth * rows[2][i]);
  }

  turn(dx, dy) {
    this.azimuth -= dx;
    this.elevation = clamp(this.elevation + dy, -Math.PI / 2, Math.PI / 2);
  }

  /** Move the picture by pixels on a canvas of that height. */
  pan(dx, dy, height) {
    const pixel = (2 * this.half) / height;
    const [right, up] = this.axes;
    for (let i = 0; i < 3; i++) this.centre[i] += pixel * (-dx * right[i] + dy * up[i]);
  }

  /** Enlarge by a factor; the point under the pixel offset (x, y) from the middle stays. */
  zoom(factor, x, y, height) {
    const before = this.half;
    this.half = clamp(this.half / factor, 1e-3 * this.radius, 20 * this.radius);
    const gained = before / this.half - 1;
    this.pan(-x * gained, -y * gained, height);
  }
}

function dot(a, b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
