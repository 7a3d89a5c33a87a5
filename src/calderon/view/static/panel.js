// The controls of a view, and what mouse, fingers and keys do.

const PERIOD = 2400; // milliseconds of one turn of the phase on the screen
const FRAMES = 110; // milliseconds of a step

Object.assign(View.prototype, {
  decorate() {
    const tools = element("div", { class: "cv-tools" },
      choices("view", [["iso", "3-D"], ["top", "xy"], ["side", "xz"], ["front", "yz"]].map(([v, t]) => [v, t, `look at ${t}`]), "", (name) => this.look(name)),
      icon("save", "save this picture", () => this.save()),
      icon("full", "full screen", () => this.fullScreen()));
    this.tip = element("div", { class: "cv-tip", hidden: true });
    this.ring = element("div", { class: "cv-ring", hidden: true });
    this.flat = element("canvas", { class: "cv-flat", "aria-hidden": "true" });
    this.stage.append(this.flat, tools, this.ring, this.tip);
    this.panel = element("div", { class: "cv-panel" });
    this.stage.after(this.panel);
    this.opened = this.layers.some((layer) => layer.open);
    this.controls();
    this.listen();
  },

  controls() {
    const field_ = this.field(this.main);
    const rows = [];
    if (field_) rows.push(element("div", { class: "cv-title" }, field_.name));
    const several = this.main.fields.length > 1;
    if (several) {
      const options = this.main.fields.map((each, k) => element("option", { value: k, selected: k === this.main.chosen }, each.name));
      rows[0] = element("select", { "aria-label": "result", class: "cv-select", onchange: (event) => this.change({ result: Number(event.target.value) }) }, ...options);
    }
    if (field_) rows.push(...this.quantityRows(field_));
    this.scales = element("div", { class: "cv-scales" });
    this.showScales();
    rows.push(this.scales, ...this.movers(), ...this.toggles());
    this.panel.replaceChildren(...rows);
    this.redraw();
  },

  showScales() {
    this.scales.replaceChildren(...this.bars().map((each) => this.bar(each)));
  },

  quantityRows(field_) {
    const rows = [];
    const axis = this.component(field_);
    const known = quantitiesOf(field_, axis);
    if (known.length > 1) {
      const label = (q) => (field_.components === 3 && axis < 0 && q === "real" ? "at ωt" : !field_.complex && q === "real" ? "value" : QUANTITIES[q].label(field_.symbol));
      rows.push(field("show", choices("quantity", known.map((q) => [q, label(q)]), this.shown(field_), (q) => this.change({ quantity: q }))));
    }
    if (field_.components === 3) {
      const parts = [[-1, "all"], [0, "x"], [1, "y"], [2, "z"]];
      rows.push(field("component", choices("component", parts, axis, (x) => this.change({ axis: x }))));
    }
    return rows;
  },

  movers() {
    const { steps } = this.scene;
    const rows = [];
    if (steps?.labels.length > 1) {
      this.stepper = player({
        name: steps.name, low: 0, high: steps.labels.length - 1, step: 1, value: this.step, single: true,
        long: steps.labels.some((label) => label.length > 14),
        text: (k) => steps.labels[k], playing: this.playing === "step", play: () => this.play("step"),
        change: (k, rebuild) => this.goTo(k, rebuild),
      });
      rows.push(field(steps.name, this.stepper));
    }
    if (this.visible().some((layer) => this.field(layer)?.complex)) {
      this.turner = player({
        name: "ωt", low: 0, high: 360, step: 1, value: Math.round((this.phase * 180) / Math.PI), text: (x) => `${x}°`,
        playing: this.playing === "phase", play: () => this.play("phase"),
        change: (x) => { this.moment(); this.phase = (x * Math.PI) / 180; this.redraw(); },
      });
      rows.push(field("phase ωt", this.turner));
    }
    if (this.main.displacement) {
      const most = 3 * (this.scene.factor || 1);
      const text = (x) => `× ${numberText(x, 3)}`;
      rows.push(field("deformed", player({ name: "deformation", low: 0, high: most, step: most / 100, value: this.factor, text, change: (x) => { this.factor = x; this.redraw(); } })));
    }
    return rows;
  },

  /** A button that switches a property of the view on and off. */
  switch_(text, name, title) {
    return toggle(text, this[name], (on) => { this[name] = on; this.controls(); }, title);
  },

  /** Show or hide a layer, and fit the picture to what is left unless it was turned by hand. */
  showLayer(layer, on) {
    layer.on = on;
    this.controls();
    if (this.fitted) this.fit();
  },

  toggles() {
    const chips = [];
    const has = (test) => this.layers.some(test);
    if (this.layers.length > 1) for (const layer of this.layers) chips.push(toggle(layer.name, layer.on, (on) => this.showLayer(layer, on), "show or hide", layer.fields.length ? "" : layer.colour));
    for (const each of this.pointers) chips.push(toggle(each.name, each.on, (on) => this.showLayer(each, on), "show or hide", each.colours[0] === INK ? "currentColor" : each.colours[0]));
    if (has((layer) => layer.open) && has((layer) => layer.on && layer.kind === "grid")) chips.push(this.switch_("open at the plane", "opened"));
    const surfaces = this.layers.filter((layer) => layer.kind === "surface");
    if (surfaces.length) chips.push(this.switch_("outlines", "outlines", "sharp edges of faces"), this.switch_("edges", "edges", "edges of the triangles"));
    if (has((layer) => layer.fields.length)) chips.push(this.switch_("bands", "bands", "one colour between two isolines"), this.switch_("isolines", "isolines", "lines of equal value"), this.switch_("extremes", "flags", "the places of the largest and the least value"));
    if (has((layer) => this.field(layer)?.components === 3)) chips.push(this.switch_("arrows", "arrows", "the direction at the moment of the phase"));
    if (surfaces.some((layer) => this.field(layer)?.on === "triangles")) chips.push(this.switch_("smooth", "smooth", "averages over neighbours, or one value for each triangle"));
    if (this.scene.steps?.labels.length > 1) chips.push(toggle("one scale", !this.own, (on) => { this.own = !on; this.controls(); }, `colours mean the same for each ${this.scene.steps.name}, or range over what is shown`));
    const rows = chips.length ? [element("div", { class: "cv-chips" }, ...chips)] : [];
    if (surfaces.length) {
      const set = (axis) => { this.cut.axis = axis; this.controls(); };
      const cut = choices("cut", [[-1, "none"], [0, "x"], [1, "y"], [2, "z"]], this.cut.axis, set);
      const [low, high] = this.box;
      const k = this.cut.axis;
      const slider = k < 0 ? null : player({
        name: "cut", low: 0, high: 1, step: 0.005, value: this.cut.at, change: (x) => { this.cut.at = x; this.redraw(); },
        text: (x) => withUnit(this.length.factor * (low[k] + x * (high[k] - low[k])), this.length.name, 3),
      });
      rows.push(field("cut away", cut), ...(slider ? [slider] : []));
    }
    return rows;
  },

  change({ result, quantity, axis }) {
    if (result !== undefined) {
      const { name } = this.main.fields[result];
      for (const layer of this.layers) {
        const same = layer.fields.findIndex((each) => each.name === name);
        if (same >= 0) layer.chosen = same;
      }
      this.quantity = this.field(this.main).quantity || this.quantity;
    }
    if (quantity !== undefined) this.quantity = quantity;
    if (axis !== undefined) this.axis = axis;
    if (this.playing === "phase" && !["real", "imag"].includes(this.quantity)) this.playing = "";
    this.controls();
  },

  /** Show a quantity that moves with the phase. */
  moment() {
    if (["real", "imag", "phase"].includes(this.quantity)) return;
    this.quantity = "real";
    this.controls();
  },

  goTo(step, rebuild) {
    const before = this.visible().length;
    this.step = step;
    if (rebuild || this.visible().length !== before) this.controls();
    else {
      if (this.own) this.showScales();
      this.redraw();
    }
  },

  play(what) {
    this.playing = this.playing === what ? "" : what;
    if (this.playing === "phase") this.moment();
    this.controls();
    if (this.playing) this.advance(performance.now());
  },

  advance(last) {
    requestAnimationFrame((now) => {
      if (!this.playing || !this.root.isConnected) return;
      if (this.playing === "phase") {
        this.phase = (this.phase + (2 * Math.PI * (now - last)) / PERIOD) % (2 * Math.PI);
        this.turner?.place(Math.round((this.phase * 180) / Math.PI));
        this.redraw();
        this.advance(now);
      } else if (now - last > FRAMES) {
        this.goTo((this.step + 1) % this.scene.steps.labels.length);
        this.stepper?.place(this.step);
        this.advance(now);
      } else this.advance(last);
    });
  },

  look(name) {
    this.camera.look(name, name === "iso" ? this.eye : null);
    this.fit();
  },

  fullScreen() {
    if (document.fullscreenElement) document.exitFullscreen();
    else this.root.requestFullscreen?.();
  },

  listen() {
    const { canvas } = this;
    const down = new Map();
    let travelled = 0;
    const at = (event) => {
      const box = canvas.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top];
    };
    canvas.addEventListener("pointerdown", (event) => {
      down.set(event.pointerId, at(event));
      travelled = 0;
      canvas.setPointerCapture(event.pointerId);
      canvas.focus({ preventScroll: true });
      this.root.classList.add("cv-pointed"); // no ring around what was not reached by keys
    });
    canvas.addEventListener("pointermove", (event) => {
      const here = at(event);
      if (down.size === 0) {
        this.hover ||= requestAnimationFrame(() => { this.hover = 0; this.point(...this.mouse); });
        this.mouse = here;
        return;
      }
      if (!down.has(event.pointerId)) return;
      this.dragged(down, event, here);
      travelled += 1;
      if (travelled > 2) this.tip.hidden = this.ring.hidden = true;
    });
    const up = (event) => {
      if (down.delete(event.pointerId) && travelled <= 2 && event.type === "pointerup") this.point(...at(event));
    };
    canvas.addEventListener("pointerup", up);
    canvas.addEventListener("pointercancel", up);
    canvas.addEventListener("pointerleave", (event) => { if (event.pointerType === "mouse") this.tip.hidden = this.ring.hidden = true; });
    canvas.addEventListener("contextmenu", (event) => event.preventDefault());
    canvas.addEventListener("dblclick", () => this.look("iso"));
    canvas.addEventListener("wheel", (event) => this.wheel(event, at(event)), { passive: false });
    canvas.addEventListener("keydown", (event) => this.key_(event));
    document.addEventListener("fullscreenchange", () => this.resized());
  },

  dragged(down, event, here) {
    const before = down.get(event.pointerId);
    const { clientWidth, clientHeight } = this.stage;
    const [dx, dy] = [here[0] - before[0], here[1] - before[1]];
    this.fitted = false;
    if (down.size === 2) {
      const other = [...down].find(([id]) => id !== event.pointerId)[1];
      const spread = (p) => Math.hypot(p[0] - other[0], p[1] - other[1]) || 1;
      const middle = [(here[0] + other[0]) / 2, (here[1] + other[1]) / 2];
      this.camera.zoom(spread(here) / spread(before), middle[0] - clientWidth / 2, middle[1] - clientHeight / 2, clientHeight);
      this.camera.pan(dx / 2, dy / 2, clientHeight);
    } else if (event.shiftKey || event.buttons & 6) this.camera.pan(dx, dy, clientHeight);
    else this.camera.turn((dx * Math.PI) / 360, (dy * Math.PI) / 360);
    down.set(event.pointerId, here);
    this.redraw();
  },

  /** The wheel zooms where the picture was touched before, so that it does not stop a page that scrolls. */
  wheel(event, [x, y]) {
    const whole = document.body.classList.contains("cv-alone") || document.fullscreenElement === this.root;
    if (!whole && document.activeElement !== this.canvas && !event.ctrlKey) return;
    event.preventDefault();
    const { clientWidth, clientHeight } = this.stage;
    this.fitted = false;
    this.camera.zoom(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0015)), x - clientWidth / 2, y - clientHeight / 2, clientHeight);
    this.redraw();
  },

  key_(event) {
    this.root.classList.remove("cv-pointed");
    const turn = { ArrowLeft: [-0.1, 0], ArrowRight: [0.1, 0], ArrowUp: [0, -0.1], ArrowDown: [0, 0.1] }[event.key];
    const zoom = { "+": 1.2, "=": 1.2, "-": 1 / 1.2 }[event.key];
    if (turn) this.camera.turn(...turn);
    else if (zoom) this.camera.zoom(zoom, 0, 0, 1);
    else if (event.key === "0") return this.look("iso");
    else return;
    event.preventDefault();
    this.fitted = false;
    this.redraw();
  },
});
