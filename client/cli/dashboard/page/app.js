// SPDX-License-Identifier: MIT
// The views by the address's fragment: #/batches/ID is view "batches" with the word ID, and what is
// chosen in a view stands behind a question mark, so a link shows what its sender saw. A view draws
// into the element that it is given, and again when its time has come, as long as somebody looks.
import {ask, ApiError} from "./api.js";
import {link, make} from "./dom.js";
import {batch, batches} from "./batches.js";
import {cache} from "./cache.js";
import {overview} from "./overview.js";
import {program, programs} from "./programs.js";
import {reasons} from "./reasons.js";

/** @typedef {(place: HTMLElement, word: string, signal: AbortSignal, chosen: URLSearchParams) => Promise<void>} Draw */
/** @type {{name: string, title: string, draw: Draw, one?: Draw, every?: number}[]} */
const VIEWS = [
  {name: "overview", title: "Overview", draw: overview, every: 1000},
  {name: "batches", title: "Batches", draw: batches, one: batch, every: 1000},
  {name: "programs", title: "Programs", draw: programs, one: program},
  {name: "reasons", title: "Reasons", draw: reasons, every: 3000},
  {name: "cache", title: "Cache", draw: cache, every: 3000},
];

const main = /** @type {HTMLElement} */ (document.getElementById("main"));
const nav = /** @type {HTMLElement} */ (document.getElementById("views"));
const health = /** @type {HTMLElement} */ (document.getElementById("health"));

let current = new AbortController();

function place() {
  const [path, chosen] = location.hash.replace(/^#\/?/, "").split("?");
  const [name, ...rest] = path.split("/");
  const view = VIEWS.find((one) => one.name === name) ?? VIEWS[0];
  return {view, word: decodeURIComponent(rest.join("/")), chosen: new URLSearchParams(chosen ?? "")};
}

/** Until the next view is chosen: draws, waits, draws again. */
async function show() {
  current.abort();
  current = new AbortController();
  const {signal} = current;
  const {view, word, chosen} = place();
  nav.replaceChildren(...VIEWS.map((one) => {
    const anchor = link(`#/${one.name}`, one.title);
    if (one === view) anchor.setAttribute("aria-current", "page");
    return anchor;
  }));
  document.title = `kiln: ${word || view.title}`;
  const section = make("section");
  main.replaceChildren(section);
  while (!signal.aborted) {
    try {
      await (word && view.one ? view.one : view.draw)(section, word, signal, chosen);
      main.dataset.ready = "true";
    } catch (error) {
      if (signal.aborted) return;
      const message = error instanceof ApiError ? error.message : `a fault of this page: ${error}`;
      section.replaceChildren(make("p", {class: "bad", role: "alert"}, message));
      main.dataset.ready = "true";
    }
    if (!view.every || (word && view.name === "programs")) return;
    await pause(view.every, signal);
  }
}

/** Longer while nobody looks at the page. @param {number} ms @param {AbortSignal} signal */
async function pause(ms, signal) {
  await new Promise((done) => {
    const timer = setTimeout(done, ms);
    signal.addEventListener("abort", () => { clearTimeout(timer); done(undefined); });
  });
  while (document.hidden && !signal.aborted) {
    await new Promise((done) => {
      document.addEventListener("visibilitychange", () => done(undefined), {once: true});
      signal.addEventListener("abort", () => done(undefined), {once: true});
    });
  }
}

/** The word in the corner, whatever the view. */
async function followHealth() {
  for (;;) {
    try {
      const {status} = await ask("overview");
      health.textContent = status.health.toLowerCase();
      health.className = status.health === "SERVING" ? "good" : "bad";
    } catch {
      health.textContent = "no answer";
      health.className = "bad";
    }
    await pause(5000, new AbortController().signal);
  }
}

window.addEventListener("hashchange", () => { main.focus(); void show(); });
void show();
void followHealth();
