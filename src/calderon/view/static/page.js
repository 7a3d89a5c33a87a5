// What a page starts with.

/** Every <figure class="cv"> with a scene as JSON within it becomes a view. */
function startViews() {
  for (const root of document.querySelectorAll("figure.cv")) {
    const data = root.querySelector("script[type='application/json']");
    if (!data || root.calderon) continue;
    try {
      new View(root, JSON.parse(data.textContent));
    } catch (error) {
      const picture = root.dataset.picture;
      const instead = picture ? element("img", { src: picture, alt: root.dataset.caption || "" }) : null;
      const note = element("p", { class: "cv-note" }, `No view that turns: ${error.message}.`);
      root.querySelector(".cv-stage").replaceChildren(...(instead ? [instead, note] : [note]));
    }
  }
}

startViews();
