// Small pieces of the page: elements, rows of choices, sliders and players.

function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (name === "html") made.innerHTML = value;
    else made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

/** Buttons of which one is pressed; options: [value, text, title]. */
function choices(name, options, current, choose) {
  const row = element("div", { class: "cv-choices", role: "group", "aria-label": name });
  for (const [value, text, title] of options) {
    row.append(
      element("button", {
        type: "button", title, "aria-pressed": String(value === current), onclick: () => choose(value),
      }, text),
    );
  }
  return row;
}

/** colour: of a mark before the text, as in a legend. */
function toggle(text, on, change, title, colour) {
  const attributes = { type: "button", class: "cv-toggle", title, "aria-pressed": String(on) };
  const mark = colour ? element("i", { class: "cv-mark", style: `background:${colour}` }) : null;
  return element("button", { ...attributes, onclick: () => change(!on) }, mark, text);
}

function field(name, ...children) {
  return element("div", { class: "cv-field" }, element("span", { class: "cv-name" }, name), ...children);
}

const ICONS = {
  play: '<svg viewBox="0 0 16 16"><path d="M4 2.5v11l9-5.5z"/></svg>',
  pause: '<svg viewBox="0 0 16 16"><path d="M4 2.5h3v11H4zM9 2.5h3v11H9z"/></svg>',
  back: '<svg viewBox="0 0 16 16"><path d="M12 2.5v11L5 8zM3.2 2.5h1.8v11H3.2z"/></svg>',
  next: '<svg viewBox="0 0 16 16"><path d="M4 2.5v11L11 8zM11 2.5h1.8v11H11z"/></svg>',
  home: '<svg viewBox="0 0 16 16"><path d="M8 2 1.5 8H3.5v5.5h3.3V10h2.4v3.5h3.3V8h2z"/></svg>',
  full: '<svg viewBox="0 0 16 16"><path d="M2 2h5v1.8H3.8V7H2zM9 2h5v5h-1.8V3.8H9zM2 9h1.8v3.2H7V14H2zM12.2 9H14v5H9v-1.8h3.2z"/></svg>',
  save: '<svg viewBox="0 0 16 16"><path d="M7.1 1.5h1.8v6.2l2.2-2.2 1.2 1.2L8 11 3.7 6.7l1.2-1.2 2.2 2.2zM2 12.5h12v1.8H2z"/></svg>',
  close: '<svg viewBox="0 0 16 16"><path d="m3.4 2.2 4.6 4.6 4.6-4.6 1.2 1.2L9.2 8l4.6 4.6-1.2 1.2L8 9.2l-4.6 4.6-1.2-1.2L6.8 8 2.2 3.4z"/></svg>',
};

function icon(name, title, click) {
  return element("button", { type: "button", class: "cv-icon", title, "aria-label": title, onclick: click, html: ICONS[name] });
}

/** A slider with its text, on a line of its own if it is long, a button that plays and, where there are steps, two that
 * go one step. */
function player({ name, low, high, step, value, text, playing, play, change, single, long }) {
  const shown = element("output", {}, text(value));
  const slider = element("input", {
    type: "range", min: low, max: high, step, value, "aria-label": name,
    oninput: (event) => {
      shown.textContent = text(Number(event.target.value));
      change(Number(event.target.value));
    },
  });
  const go = (by) => change(value + by > high ? low : value + by < low ? high : value + by, true);
  const buttons = [
    single ? icon("back", `${name}: one step back`, () => go(-1)) : null,
    play ? icon(playing ? "pause" : "play", playing ? `${name}: pause` : `${name}: play`, play) : null,
    single ? icon("next", `${name}: one step on`, () => go(1)) : null,
  ];
  const row = element("div", { class: long ? "cv-player cv-long" : "cv-player" }, ...buttons, slider, shown);
  return Object.assign(row, { place: (x) => { slider.value = x; shown.textContent = text(x); } });
}
