// The view as a picture: with the title, what is shown, colour bars, axes and units.

const HEAD = 58; // pixels of the page above the picture
const FOOT = 74; // below it, for a row of colour bars

Object.assign(View.prototype, {
  /** What is shown, in a line: the field, and the present step. */
  shownText() {
    const { steps } = this.scene;
    const field_ = this.field(this.main);
    const step = steps?.labels.length > 1 ? `${steps.name} ${steps.labels[this.step]}` : "";
    return [field_?.name, step].filter(Boolean).join(", ");
  },

  /** A canvas with the picture, its title and its bars, as large as on the screen. */
  picture() {
    this.draw();
    const { canvas, flat } = this;
    const ratio = canvas.width / this.stage.clientWidth;
    const width = canvas.width / ratio;
    const bars = this.bars();
    const perRow = Math.max(1, Math.floor(width / 300));
    const rows = Math.ceil(bars.length / perRow);
    const height = HEAD + canvas.height / ratio + rows * FOOT;
    const copy = element("canvas", { width: canvas.width, height: Math.round(height * ratio) });
    const pen = copy.getContext("2d");
    const family = getComputedStyle(this.root).fontFamily;
    pen.scale(ratio, ratio);
    pen.fillStyle = getComputedStyle(this.root).getPropertyValue("--cv-ground");
    pen.fillRect(0, 0, width, height);
    pen.drawImage(canvas, 0, HEAD, width, canvas.height / ratio);
    pen.drawImage(flat, 0, HEAD, width, canvas.height / ratio);
    pen.fillStyle = this.inks.ink;
    pen.font = `600 16px ${family}`;
    pen.fillText(document.querySelector("h1")?.textContent || "", 16, 26, width - 32);
    pen.font = `12.5px ${family}`;
    pen.fillStyle = this.inks.muted;
    pen.fillText(this.shownText(), 16, 46, width - 32);
    bars.forEach((field_, k) => {
      const room = width / Math.min(perRow, bars.length);
      const wide = Math.min(320, room - 48);
      const top = HEAD + canvas.height / ratio + FOOT * Math.floor(k / perRow) + 6;
      this.drawBar(pen, field_, 24 + room * (k % perRow), top, wide, this.inks);
    });
    return copy;
  },

  save() {
    saveAs(this.picture().toDataURL("image/png"), `${fileName(this.shownText()) || "view"}.png`);
  },
});

/** Letters and digits of a text, for the name of a file. */
function fileName(text) {
  return text.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "");
}

function saveAs(address, name) {
  element("a", { href: address, download: name }).click();
}
