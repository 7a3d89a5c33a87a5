// The page of a report: charts, pictures that enlarge, and the case to be copied.

for (const root of document.querySelectorAll(".chart")) {
  new Chart(root, JSON.parse(root.querySelector("script").textContent));
}

const large = element("dialog", { class: "large", onclick: () => large.close() });
document.body.append(large);
for (const button of document.querySelectorAll("button.enlarge")) {
  button.addEventListener("click", () => {
    const image = button.querySelector("img");
    large.replaceChildren(element("img", { src: image.src, alt: image.alt }), icon("close", "close", () => large.close()));
    large.showModal();
  });
}

async function copied(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = element("textarea", { style: "position:fixed;opacity:0" }, text);
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
}

for (const button of document.querySelectorAll("button.copy, button.hint")) {
  button.hidden = false;
  const before = button.innerHTML;
  button.addEventListener("click", async () => {
    await copied(button.dataset.copy || document.getElementById(button.dataset.of).textContent);
    button.textContent = "copied";
    setTimeout(() => { button.innerHTML = before; }, 1600);
  });
}
