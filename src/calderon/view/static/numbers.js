// Packed arrays, numbers as text, and round steps of axes.

const ARRAYS = { f32: Float32Array, u32: Uint32Array, u16: Uint16Array };
const NOTHING = 1e30; // stands for NaN on the graphics card

/** A typed array from {type, data: base64, low, high}; 16-bit values become numbers from low to high, 65535 is NaN. */
function unpacked(packed) {
  const text = atob(packed.data);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  const raw = new ARRAYS[packed.type](bytes.buffer);
  if (packed.low === undefined) return raw;
  const step = (packed.high - packed.low) / 65534;
  return Float32Array.from(raw, (k) => (k === 65535 ? NaN : packed.low + step * k));
}

const RAISED = { "-": "⁻", 0: "⁰", 1: "¹", 2: "²", 3: "³", 4: "⁴", 5: "⁵", 6: "⁶", 7: "⁷", 8: "⁸", 9: "⁹" };

/** Four digits (or as many as given), a typographic minus, and powers of ten for large and small numbers. */
function numberText(value, digits = 4) {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "no value" : value < 0 ? "−∞" : "∞";
  if (value === 0) return "0";
  let text = value.toPrecision(digits);
  const size = Math.abs(value);
  if (size >= 1e5 || size < 1e-3) {
    const [mantissa, power] = value.toExponential(digits - 1).split("e");
    text = `${trimmed(mantissa)} × 10${raised(Number(power))}`;
  } else text = trimmed(text);
  return text.replace(/^-/, "−");
}

function raised(power) {
  return [...String(power)].map((c) => RAISED[c]).join("");
}

function trimmed(text) {
  return text.includes(".") ? text.replace(/0+$/, "").replace(/\.$/, "") : text;
}

function withUnit(value, unit, digits = 4) {
  return numberText(value, digits) + (unit ? (unit === "°" ? "" : " ") + unit : "");
}

/** re + i im of a complex number as text. */
function complexText(re, im) {
  return `${numberText(re)} ${im < 0 ? "−" : "+"} ${numberText(Math.abs(im))} i`;
}

/** The round number 1, 2, 2.5 or 5 times a power of ten, at least as large as the value. */
function roundStep(value, steps = [1, 2, 2.5, 5, 10]) {
  const decade = 10 ** Math.floor(Math.log10(value) + 1e-9);
  return steps.find((s) => s * decade >= value * (1 - 1e-9)) * decade;
}

/** Round positions within [low, high], about as many as given. */
function ticks(low, high, count, steps) {
  if (!(high > low)) return [low];
  const step = roundStep((high - low) / Math.max(1, count), steps);
  const found = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) found.push(k * step);
  return found;
}

/** As many digits as tell steps of an axis apart. */
function tickText(value, step) {
  if (value !== 0 && (Math.abs(value) >= 1e5 || Math.abs(value) < 1e-4)) return numberText(value, 4);
  let exact = Math.max(0, Math.ceil(-Math.log10(step) - 1e-9));
  if (Math.abs(Math.round(step * 10 ** exact) - step * 10 ** exact) > 1e-6) exact += 1; // steps of 2.5
  const text = value.toFixed(exact);
  return (Number(text) === 0 ? "0" : text).replace("-", "−");
}

function escaped(text) {
  return String(text).replace(/[&<>"]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c]);
}

function clamp(value, low, high) {
  return Math.min(high, Math.max(low, value));
}
