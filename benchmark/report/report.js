"use strict";
// Adds to a page that is complete without it: a search, a count, a switch of colours.
(() => {
  const root = document.documentElement;
  root.classList.add("script");

  const theme = document.getElementById("theme");
  const system = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme || (system.matches ? "dark" : "light")) === "dark";
  const name = () => {
    theme.textContent = isDark() ? "Light" : "Dark";
    theme.setAttribute("aria-label", `Switch to ${isDark() ? "light" : "dark"} colours`);
  };
  theme.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    name();
  });
  system.addEventListener("change", name);
  name();

  const search = document.getElementById("search");
  const shown = document.getElementById("shown");
  const none = document.getElementById("none");
  const cards = [...document.querySelectorAll(".card")];
  const texts = cards.map((card) => card.textContent.toLowerCase());
  const update = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const state = document.querySelector("input[name=show]:checked").value;
    let count = 0;
    cards.forEach((card, i) => {
      const fits = words.every((word) => texts[i].includes(word));
      card.hidden = !fits;
      if (fits && (state === "all" || card.classList.contains(`is-${state}`))) count += 1;
    });
    shown.textContent = `${count} of ${cards.length}`;
    none.hidden = count > 0;
  };
  search.addEventListener("input", update);
  document.querySelectorAll("input[name=show]").forEach((one) => one.addEventListener("change", update));
  update();

  document.addEventListener("keydown", (event) => {
    const typing = event.target instanceof HTMLInputElement && event.target.type === "search";
    if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      search.focus();
    } else if (event.key === "Escape" && typing) {
      search.value = "";
      update();
    }
  });
})();
