"use strict";
// Keys: j and k go through steps or runs, Enter opens, e unfolds everything, / searches, x picks, ? helps.
(() => {
  const all = (selector) => [...document.querySelectorAll(selector)];
  const items = () => all(".step, .runs tbody tr");
  let at = -1;
  const go = (to) => {
    const list = items();
    if (!list.length) return;
    at = Math.max(0, Math.min(list.length - 1, to));
    for (const item of list) item.classList.remove("here");
    const item = list[at];
    item.classList.add("here");
    item.scrollIntoView({ block: "nearest" });
    (item.querySelector("a") || item).focus({ preventScroll: true });
  };
  const unfold = () => {
    const folds = all("details");
    const open = folds.some((fold) => !fold.open);
    for (const fold of folds) fold.open = open;
  };
  const help = () => {
    const dialog = document.querySelector("dialog");
    if (dialog) dialog.open ? dialog.close() : dialog.showModal();
  };
  const actions = {
    j: () => go(at + 1),
    k: () => go(at - 1),
    g: () => go(0),
    G: () => go(items().length - 1),
    e: unfold,
    "?": help,
    "/": () => { const search = document.querySelector("input[type=search]"); if (search) { search.focus(); search.select(); } },
    x: () => { const box = items()[at]?.querySelector("input[type=checkbox]"); if (box) box.click(); },
    u: () => { const up = document.querySelector("a[rel=up]"); if (up) up.click(); },
    c: () => { const compare = document.querySelector("#compare"); if (compare && !compare.disabled) compare.click(); },
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.closest("input:not([type=checkbox]), select, textarea")) {
      if (event.key === "Escape") event.target.blur();
      return;
    }
    const action = actions[event.key];
    if (action) { event.preventDefault(); action(); }
  });
})();
