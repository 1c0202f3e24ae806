// SPDX-License-Identifier: MIT
// The programs of the project, and of one its option space: what each option costs, where it is
// live, and for chosen values the artifact and the reason.
import {ask, ApiError} from "./api.js";
import {diagnosticText} from "./batches.js";
import {cards, link, make, table} from "./dom.js";
import {recordList} from "./reasons.js";
import {number, optionsText} from "./text.js";

const VIEWS = ["stats", "disasm", "glsl", "wgsl", "hlsl", "msl", "meta", "layout", "options", "ir"];

/** @param {HTMLElement} place @param {string} _ @param {AbortSignal} signal */
export async function programs(place, _, signal) {
  const answer = await ask("programs", {}, signal);
  place.replaceChildren(
    make("h2", {}, answer.project === null ? "Programs" : `Programs of ${answer.project}`),
    answer.project === null
      ? make("p", {}, `${answer.problem}. Start kiln dashboard in the folder of a kiln.toml; kiln init makes one.`)
      : table("Programs", [
        {title: "program", cell: (row) => link(`#/programs/${encodeURIComponent(row.name)}`, row.name)},
        {title: "sources", cell: (row) => row.sources.join(" ")},
        {title: "pipeline", cell: (row) => row.pipeline},
        {title: "axes", number: true, cell: (row) => number(row.axes)},
        {title: "tags", cell: (row) => row.tags.join(" ")},
      ], answer.programs));
}

/** @param {HTMLElement} place @param {string} name @param {AbortSignal} signal @param {URLSearchParams} chosen */
export async function program(place, name, signal, chosen) {
  const answer = await ask("program", {program: name}, signal);
  const below = make("div");
  const fields = chooser(answer, chosen, (query) => {
    location.hash = `#/programs/${encodeURIComponent(name)}?${query}`;
  });
  place.replaceChildren(
    make("h2", {}, name),
    make("div", {}, answer.diagnostics.map((one) => make("p", {class: one.severity === "error" ? "bad" : null}, diagnosticText(one)))),
    answer.count === null ? "" : cards([
      ["variants", (answer.count.exact ? "" : "at most ") + number(answer.count.variants)],
      ["distinct results, at most", number(answer.count.results_upper)],
      ["in the cache", answer.count.cached === "" ? "–" : number(answer.count.cached)],
    ]),
    ...(answer.count === null ? [] : [make("h3", {}, "One variant"), fields, below]),
    make("h3", {}, "Option space"),
    optionTable(answer),
    answer.count === null ? "" : variantList(name, signal));
  if (chosen.has("view")) await look(below, name, chosen, signal);
}

function optionTable(answer) {
  const factor = new Map((answer.count?.axes ?? []).map((axis) => [axis.name, axis.factor]));
  return table("Options", [
    {title: "option", cell: (row) => row.name},
    {title: "type", cell: (row) => `${row.scope} ${row.kind}`},
    {title: "default", cell: (row) => row.default},
    {title: "values built", cell: (row) => valuesOf(answer, row).join(" ") || "fixed"},
    {title: "live in", cell: (row) => (row.live_in.length ? row.live_in.join(" ") : make("span", {class: "quiet"}, "nothing"))},
    {title: "factor", number: true, cell: (row) => (factor.get(row.name) ? factor.get(row.name).toFixed(1) : "–")},
    {title: "read by", cell: readers},
    {title: "declared", cell: (row) => row.declared_at},
  ], answer.options, "the program has none");
}

// A list that is long in most rows, and wanted in few.
function readers(row) {
  const places = [...new Set(row.readers)];
  if (places.length < 2) return places;
  return make("details", {}, make("summary", {}, `${places.length} places`), places.map((one) => make("div", {}, one)));
}

/** Values of an option that the manifest builds; none: it is fixed. */
function valuesOf(answer, option) {
  const axis = answer.axes.find((one) => one.name === option.name);
  if (!axis) return [];
  if (!axis.all) return axis.values;
  return option.kind === "flag" ? ["false", "true"] : option.values;
}

/** @param {any} answer @param {URLSearchParams} chosen @param {(query: URLSearchParams) => void} onLook */
function chooser(answer, chosen, onLook) {
  const selects = answer.options.map((option) => {
    const values = valuesOf(answer, option);
    const all = values.length ? values : option.kind === "flag" ? ["false", "true"] : option.values;
    const start = chosen.get(`o.${option.name}`) ?? option.default;
    const name = `o.${option.name}`;
    const field = all.length
      ? make("select", {name}, all.map((value) => make("option", {selected: value === start}, value)))
      : make("input", {name, value: start, size: 8});
    const dead = option.live_in.length === 0;
    return make("label", {class: dead ? "dead" : null}, `${option.name}${dead ? " (dead)" : ""}`, field);
  });
  const view = make("select", {name: "view"},
    VIEWS.map((one) => make("option", {selected: one === chosen.get("view")}, one)));
  const form = make("form", {class: "fields"}, selects, make("label", {}, "view", view),
    make("button", {type: "submit"}, "Show"), make("button", {type: "submit", value: "why"}, "Why?"));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const query = new URLSearchParams();
    for (const [key, value] of new FormData(form)) query.set(key, String(value));
    if (event.submitter?.value === "why") query.set("view", "why");
    onLook(query);
  });
  return form;
}

/** @param {HTMLElement} place @param {string} program @param {URLSearchParams} chosen */
async function look(place, program, chosen, signal) {
  const o = [...chosen].filter(([key]) => key.startsWith("o.")).map(([key, value]) => `${key.slice(2)}=${value}`);
  const view = chosen.get("view") ?? "";
  try {
    if (view === "why") {
      const answer = await ask("explain", {program, o}, signal);
      place.replaceChildren(make("h3", {}, "Would it be built now, and why"), recordList(answer.records));
      return;
    }
    const answer = await ask("inspect", {program, o, view}, signal);
    place.replaceChildren(...answer.views.flatMap((one) => [
      make("h3", {}, `${one.view}${one.target ? `, ${one.target}` : ""}`),
      make("pre", {tabindex: "0"}, one.text)]));
  } catch (error) {
    if (signal.aborted || !(error instanceof ApiError)) throw error;
    place.replaceChildren(make("p", {class: "bad", role: "alert"}, error.message));
  }
}

/** The variants, a page at a time, of those where an expression is true. */
function variantList(program, signal) {
  const where = make("input", {name: "where", size: 40, placeholder: "fog && light_count == 4u"});
  const rows = make("div");
  const load = async (page) => {
    try {
      const answer = await ask("variants", {program, where: where.value, page}, signal);
      rows.replaceChildren(
        table("Variants", [
          {title: "number", number: true, cell: (row) => row.rank},
          {title: "options", cell: (row) => optionsText(row.options)},
          {title: "state", cell: (row) => make("span", {class: {cached: "good", failed: "bad"}[row.state]}, row.state)},
          {title: "signature", cell: (row) => make("code", {}, row.signature.slice(0, 8))},
        ], answer.rows),
        answer.next ? make("button", {type: "button", onclick: () => void load(answer.next)}, "Next page") : "");
    } catch (error) {
      if (signal.aborted || !(error instanceof ApiError)) throw error;
      rows.replaceChildren(make("p", {class: "bad", role: "alert"}, error.message));
    }
  };
  return make("div", {}, make("h3", {}, "Variants"),
    make("form", {class: "fields", onsubmit: (event) => { event.preventDefault(); void load(""); }},
      make("label", {}, "where", where), make("button", {type: "submit"}, "List")),
    rows);
}
