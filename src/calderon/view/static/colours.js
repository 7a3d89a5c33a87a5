// Maps of colours and what is shown of a complex field: |p|, Re p, Im p, its phase or 20 log10 |p|.
// viridis and twilight: Matplotlib (CC0). diverging: calderon.plots.quantity.diverging_map. 33 colours each.

const MAPS = {
  viridis:
    "440154470d6048186a482374472d7b4537814240863e49893b528b375b8d33638d2f6b8e2c728e297a8e26828e23898e21918c1f988b1fa088" +
    "22a78528ae8032b67a3fbc734ec36b5ec96270cf5784d44b98d83eaddc30c2df23d8e219ece51bfde725",
  twilight:
    "e2d9e2d7d7ddc4ced4acc2cc95b5c781a6c37297c16887be6276ba5f64b55e51ad5d3da1592a8f511b7745135c3811452f14363a113a4a1342" +
    "5f174a741e4f872750983550a64550b25652bb6958c27c63c89073cca389d1b6a3d8c7bedfd4d6e2d9e2",
  diverging:
    "1333721b407e234c892b59953365a03c72ac457fb84f8dc4589ad06da6d581b1da95bddfa9c8e4bcd4e8d0e0ece4ebf0f7f7f4f5e7ddf2d7c6" +
    "efc7afebb898e7a881e29769dd8750d87633c86b2eb8602aa95525994a218a401c7c35186d2b145f2110",
};
const MAP_STEPS = 32;
const ONE_SIGN = 0.02; // values of the other sign, in parts of the largest, that are left out of account

/** (257, 4) bytes of a map, from its 33 colours. */
function mapBytes(name) {
  const anchors = MAPS[name].match(/../g).map((x) => parseInt(x, 16));
  const bytes = new Uint8Array(4 * 257);
  for (let i = 0; i < 257; i++) {
    const at = (i / 256) * MAP_STEPS;
    const k = Math.min(MAP_STEPS - 1, Math.floor(at));
    for (let c = 0; c < 3; c++) {
      bytes[4 * i + c] = Math.round(anchors[3 * k + c] * (k + 1 - at) + anchors[3 * k + 3 + c] * (at - k));
    }
    bytes[4 * i + 3] = 255;
  }
  return bytes;
}

const QUANTITIES = {
  abs: { code: 0, name: (p) => `|${p}|`, label: () => "abs" },
  real: { code: 1, name: (p) => `Re ${p}`, label: () => "Re" },
  imag: { code: 2, name: (p) => `Im ${p}`, label: () => "Im" },
  phase: { code: 3, name: (p) => `phase of ${p}`, label: () => "phase" },
  db: { code: 4, name: (p) => p, label: () => "dB" },
};

/** What can be shown of a field: vectors have no phase, levels and stresses are shown as they are. Decibels mean
    something of the amplitudes of waves, which are complex, and of real fields that are shown in them at first. */
function quantitiesOf(field, axis) {
  if (field.level) return ["real"];
  const decibels = field.complex || field.quantity === "db" ? ["db"] : [];
  if (field.components === 3 && axis < 0) return [...(field.complex ? ["abs", "real"] : ["abs"]), ...decibels];
  if (field.complex) return ["abs", "real", "imag", "phase", ...decibels];
  return [...(field.signed ? ["real", "abs"] : ["real"]), ...decibels];
}

/** The shown value of a complex number or vector, its real and imaginary parts turned by the phase omega t. */
function shownValue(re, im, quantity, axis, turn, tenfold) {
  const [c, s] = turn;
  if (re.length === 3 && axis >= 0) return shownValue([re[axis]], [im[axis]], quantity, -1, turn, tenfold);
  let square = 0;
  for (let i = 0; i < re.length; i++) square += re[i] * re[i] + im[i] * im[i];
  if (quantity === "abs") return Math.sqrt(square);
  if (quantity === "db") return (tenfold ? 5 : 10) * Math.log10(square);
  const real = re.map((x, i) => x * c + im[i] * s);
  if (re.length === 3) return Math.hypot(...real);
  const imag = im[0] * c - re[0] * s;
  if (quantity === "real") return real[0];
  return quantity === "imag" ? imag : (Math.atan2(imag, real[0]) * 180) / Math.PI;
}

function quantityUnit(quantity, field) {
  if (quantity === "phase") return "°";
  return quantity === "db" ? `dB re 1${field.unit ? " " + field.unit : ""}` : field.unit;
}

/** The name of what is shown: "|p|", "Re p", of a vector at one moment "|J(t)|". */
function quantityName(quantity, field, axis) {
  const symbol = axis < 0 || field.components !== 3 ? field.symbol : `${field.symbol}${"xyz"[axis]}`;
  if (field.components === 3 && axis < 0) {
    return quantity === "real" ? `|Re ${symbol}|` : quantity === "db" ? symbol : `|${symbol}|`;
  }
  return !field.complex && quantity === "real" ? symbol : QUANTITIES[quantity].name(symbol);
}

/** Range and colours of a quantity whose magnitude has the given largest value, and values the given extremes. */
function rangeOf(quantity, field, axis, extremes) {
  const { largest, low, high } = extremes;
  if (quantity === "phase") return { low: -180, high: 180, map: "twilight" };
  if (quantity === "db") {
    const top = (field.power ? 10 : 20) * Math.log10(largest || 1);
    return { low: top - (field.depth || 40), high: top, map: "viridis" };
  }
  if (quantity === "abs" || (field.components === 3 && axis < 0)) return { low: 0, high: largest || 1, map: "viridis" };
  if (field.level) return { low: Math.max(low, high - (field.depth || 40)), high, map: "viridis" };
  if (!field.complex && low >= -ONE_SIGN * high) return { low: Math.min(0, low), high: high || 1, map: "viridis" };
  if (!field.complex && high <= -ONE_SIGN * low) return { low, high: Math.max(0, high), map: "viridis", reverse: true };
  return { low: -largest || -1, high: largest || 1, map: "diverging" };
}
