// Triangles on the graphics card: complex values at corners are interpolated, then turned into colours.

const VERTEX = `#version 300 es
in vec3 position, normal, shift, re, im;
uniform mat4 camera;
uniform float factor;
out vec3 atNormal, atRe, atIm, at, corner;
void main() {
  at = position + factor * shift;
  atNormal = normal; atRe = re; atIm = im;
  int k = gl_VertexID % 3;
  corner = vec3(k == 0, k == 1, k == 2);
  gl_Position = camera * vec4(at, 1.0);
}`;

const FRAGMENT = `#version 300 es
precision highp float;
precision highp sampler2D;
in vec3 atNormal, atRe, atIm, at, corner;
uniform sampler2D colours;
uniform int quantity, components;
uniform vec3 chosen, plain, empty, edge, eye, up;
uniform vec4 cut;
uniform vec2 turn, range, levels;
uniform float decibels, lit, edges, reverse, painted, banded, lined, opacity;
out vec4 colour;
float shown() {
  vec3 re = atRe * chosen, im = atIm * chosen;
  float square = dot(re, re) + dot(im, im);
  if (quantity == 0) return sqrt(square);
  if (quantity == 4) return decibels * log(max(square, 1e-37)) / log(10.0);
  vec3 now = re * turn.x + im * turn.y, later = im * turn.x - re * turn.y;
  if (components == 3) return length(now);
  float a = dot(now, vec3(1.0)), b = dot(later, vec3(1.0));
  return quantity == 1 ? a : quantity == 2 ? b : degrees(atan(b, a));
}
void main() {
  if (dot(at, cut.xyz) > cut.w) discard;
  vec3 base = plain;
  if (painted > 0.5) {
    float value = shown(), level = (value - levels.x) / levels.y;
    float middle = levels.x + levels.y * (floor(level) + 0.5); // of a band
    float t = clamp(((banded > 0.5 ? middle : value) - range.x) / (range.y - range.x), 0.0, 1.0);
    if (reverse > 0.5) t = 1.0 - t;
    bool missing = abs(atRe.x) > 1e26;
    if (missing && lit < 0.5) discard;
    base = missing ? empty : texture(colours, vec2((t * 256.0 + 0.5) / 257.0, 0.5)).rgb;
    float slope = fwidth(level), away = abs(fract(level - 0.5) - 0.5) / max(slope, 1e-6); // pixels from an isoline
    if (lined > 0.5 && !missing && slope < 0.5) base = mix(base, edge, 0.8 * (1.0 - smoothstep(0.4, 1.3, away)));
  }
  vec3 n = normalize(atNormal);
  if (dot(n, eye) < 0.0) n = -n;
  vec3 key = normalize(eye + 0.7 * up + 0.35 * cross(up, eye));
  float light = 0.58 + 0.34 * max(dot(n, key), 0.0) + 0.10 * dot(n, eye);
  base *= mix(1.0, min(light, 1.0), lit);
  base += lit * 0.10 * pow(max(dot(n, normalize(key + eye)), 0.0), 40.0);
  if (edges > 0.0) {
    vec3 d = corner / max(fwidth(corner), vec3(1e-6));
    vec3 high = 1.0 / max(fwidth(corner), vec3(1e-6)); // of the triangle, in pixels: edges of small ones are faint
    float faint = smoothstep(2.0, 18.0, min(high.x, min(high.y, high.z)));
    base = mix(base, edge, edges * faint * (1.0 - smoothstep(0.4, 1.3, min(d.x, min(d.y, d.z)))));
  }
  colour = vec4(base * opacity, opacity);
}`;

class Painter {
  constructor(canvas) {
    const options = { antialias: true, alpha: true, premultipliedAlpha: true, preserveDrawingBuffer: true, stencil: true };
    const gl = canvas.getContext("webgl2", options);
    if (!gl) throw new Error("this browser shows no WebGL 2");
    this.gl = gl;
    this.program = linked(gl);
    gl.useProgram(this.program);
    gl.enable(gl.DEPTH_TEST);
    gl.enable(gl.POLYGON_OFFSET_FILL);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    this.places = {};
    for (let i = 0; i < gl.getProgramParameter(this.program, gl.ACTIVE_UNIFORMS); i++) {
      const { name } = gl.getActiveUniform(this.program, i);
      this.places[name] = gl.getUniformLocation(this.program, name);
    }
    this.maps = Object.fromEntries(Object.keys(MAPS).map((name) => [name, this.texture(mapBytes(name))]));
  }

  texture(bytes) {
    const { gl } = this;
    const made = gl.createTexture();
    gl.bindTexture(gl.TEXTURE_2D, made);
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, 257, 1, 0, gl.RGBA, gl.UNSIGNED_BYTE, bytes);
    for (const [name, value] of [
      [gl.TEXTURE_MIN_FILTER, gl.LINEAR],
      [gl.TEXTURE_MAG_FILTER, gl.LINEAR],
      [gl.TEXTURE_WRAP_S, gl.CLAMP_TO_EDGE],
      [gl.TEXTURE_WRAP_T, gl.CLAMP_TO_EDGE],
    ]) gl.texParameteri(gl.TEXTURE_2D, name, value);
    return made;
  }

  /** Put an attribute (n, size) of a layer on the card; null: zeros. */
  upload(layer, name, values, size) {
    const { gl } = this;
    layer.array ||= gl.createVertexArray();
    layer.buffers ||= {};
    gl.bindVertexArray(layer.array);
    const place = gl.getAttribLocation(this.program, name);
    if (place < 0) return;
    if (!values) {
      gl.disableVertexAttribArray(place);
      gl.vertexAttrib3f(place, 0, 0, 0);
      return;
    }
    layer.buffers[name] ||= gl.createBuffer();
    gl.bindBuffer(gl.ARRAY_BUFFER, layer.buffers[name]);
    gl.bufferData(gl.ARRAY_BUFFER, values, gl.DYNAMIC_DRAW);
    gl.enableVertexAttribArray(place);
    gl.vertexAttribPointer(place, size, gl.FLOAT, false, 0, 0);
  }

  set(uniforms) {
    const { gl, places } = this;
    for (const [name, value] of Object.entries(uniforms)) {
      const at = places[name];
      if (at === undefined) continue;
      if (name === "quantity" || name === "components") gl.uniform1i(at, value);
      else if (typeof value === "number") gl.uniform1f(at, value);
      else if (value.length === 16) gl.uniformMatrix4fv(at, false, value);
      else gl[`uniform${value.length}fv`](at, value);
    }
  }

  begin(width, height) {
    const { gl } = this;
    gl.viewport(0, 0, width, height);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
  }

  /** Triangles of a layer, or the lines of an outline; opacity below 1 lets what is drawn before shine through. */
  draw(layer, count, map, uniforms, behind, lines = false) {
    const { gl } = this;
    gl.bindTexture(gl.TEXTURE_2D, this.maps[map]);
    gl.bindVertexArray(layer.array);
    const back = !behind ? 0 : uniforms.opacity < 1 ? 4 : 1; // what is translucent is behind what lies on it
    gl.polygonOffset(back, back);
    gl.depthMask(uniforms.opacity === 1);
    this.set(uniforms);
    gl.drawArrays(lines ? gl.LINES : gl.TRIANGLES, 0, count);
    gl.depthMask(true);
  }

  /** Let a plane be drawn only inside, or outside, of closed surfaces. A ray from a point of the plane away from the
      eye leaves a body once more than it enters it where the point is inside: crossings are counted modulo 2.
      beyond: uniforms that take off what is nearer to the eye than the plane. */
  within(bodies, inside, beyond) {
    const { gl } = this;
    gl.enable(gl.STENCIL_TEST);
    gl.clear(gl.STENCIL_BUFFER_BIT);
    gl.disable(gl.DEPTH_TEST);
    gl.colorMask(false, false, false, false);
    gl.stencilFunc(gl.ALWAYS, 0, 1);
    gl.stencilOp(gl.KEEP, gl.KEEP, gl.INVERT);
    for (const layer of bodies) this.draw(layer, layer.geometry.triangles.length, "viridis", beyond, false);
    gl.colorMask(true, true, true, true);
    gl.enable(gl.DEPTH_TEST);
    gl.stencilFunc(gl.EQUAL, inside ? 1 : 0, 1);
    gl.stencilOp(gl.KEEP, gl.KEEP, gl.KEEP);
  }

  everywhere() {
    this.gl.disable(this.gl.STENCIL_TEST);
  }
}

function linked(gl) {
  const program = gl.createProgram();
  for (const [kind, text] of [[gl.VERTEX_SHADER, VERTEX], [gl.FRAGMENT_SHADER, FRAGMENT]]) {
    const shader = gl.createShader(kind);
    gl.shaderSource(shader, text);
    gl.compileShader(shader);
    if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS)) throw new Error(gl.getShaderInfoLog(shader));
    gl.attachShader(program, shader);
  }
  gl.linkProgram(program);
  if (!gl.getProgramParameter(program, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(program));
  return program;
}
