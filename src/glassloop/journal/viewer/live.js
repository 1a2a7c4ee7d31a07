"use strict";
// Takes what happens in a run while it happens, and lets two runs be picked for comparison.
(() => {
  const run = document.querySelector("main[data-live]");
  if (run) {
    const source = new EventSource(run.dataset.live);
    const put = (piece) => {
      const old = document.getElementById(piece.id);
      const near = window.innerHeight + window.scrollY > document.body.scrollHeight - 120;
      const holder = document.createElement("template");
      holder.innerHTML = piece.html; // made and escaped by the server
      const fresh = holder.content.firstElementChild;
      if (old) {
        const open = [...old.querySelectorAll("details")].map((fold) => fold.open);
        [...fresh.querySelectorAll("details")].forEach((fold, i) => { fold.open = open[i] || false; });
        old.replaceWith(fresh);
      } else {
        document.getElementById("steps").append(fresh);
      }
      if (near) window.scrollTo({ top: document.body.scrollHeight });
    };
    source.addEventListener("piece", (event) => put(JSON.parse(event.data)));
    source.addEventListener("done", () => { source.close(); document.getElementById("state")?.remove(); });
  }
  const compare = document.querySelector("#compare");
  if (compare) {
    const boxes = () => [...document.querySelectorAll("input[name=pick]:checked")];
    const update = () => { compare.disabled = boxes().length !== 2; };
    document.addEventListener("change", (event) => {
      if (event.target.name !== "pick") return;
      const picked = boxes();
      if (picked.length > 2) picked.find((box) => box !== event.target).checked = false;
      update();
    });
    compare.addEventListener("click", () => {
      const [a, b] = boxes().map((box) => box.value);
      location.href = `/diff?a=${encodeURIComponent(a)}&b=${encodeURIComponent(b)}`;
    });
    update();
  }
})();
