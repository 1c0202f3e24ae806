// SPDX-License-Identifier: MIT
// All batches, and one with what it missed and why.
import {ask} from "./api.js";
import {cards, link, make, table} from "./dom.js";
import {recordList} from "./reasons.js";
import {duration, moment, number, optionsText, percent} from "./text.js";

/** @param {HTMLElement} place @param {string} _ @param {AbortSignal} signal */
export async function batches(place, _, signal) {
  const answer = await ask("overview", {}, signal);
  place.replaceChildren(make("h2", {}, "Batches"), batchTable("Latest first", answer.batches));
}

/** @param {string} caption @param {any[]} rows */
export function batchTable(caption, rows) {
  return table(caption, [
    {title: "batch", cell: (row) => link(`#/batches/${row.id}`, row.id.slice(0, 8))},
    {title: "project", cell: (row) => row.project},
    {title: "state", cell: state},
    {title: "results", cell: bar},
    {title: "compiled", number: true, cell: (row) => number(row.compiled)},
    {title: "known", number: true, cell: (row) => number(row.hits + row.shared)},
    {title: "failed", number: true, cell: (row) => number(row.failed + row.limited + row.poisoned)},
    {title: "started", cell: (row) => moment(row.started_ms)},
    {title: "took", number: true, cell: (row) => duration(Math.max(0, row.updated_ms - row.started_ms))},
    {title: "owner", cell: (row) => row.owner},
  ], rows, "kiln build starts one");
}

function state(row) {
  const kind = {DONE: "good", FAILED: "bad", CANCELLED: "bad"}[row.state];
  const by = row.paused_by ? ` by ${row.paused_by}` : "";
  return make("span", {class: kind}, row.state.toLowerCase() + by);
}

function bar(row) {
  const total = Number(row.results_upper);
  const text = row.state === "DONE" ? number(row.results_done) : `${number(row.results_done)} of at most ${number(row.results_upper)}`;
  if (row.state !== "RUNNING" && row.state !== "PAUSED") return text;
  return [make("progress", {max: total || 1, value: Math.min(row.results_done, total), "aria-label": text}), text];
}

/** @param {HTMLElement} place @param {string} id @param {AbortSignal} signal */
export async function batch(place, id, signal) {
  const {batch: row, failed, slow, explained} = await ask("batch", {id}, signal);
  place.replaceChildren(
    make("h2", {}, `Batch ${id.slice(0, 8)} of ${row.project}`),
    cards([
      ["state", state(row)],
      ["variants", `${number(row.variants_served)} of ${number(row.variants_total)}`],
      ["distinct results", bar(row)],
      ["compiled", number(row.compiled)],
      ["known before", `${number(row.hits + row.shared)} (${percent(row.hits + row.shared, row.results_done)})`],
      ["distinct code", number(row.code_distinct)],
      ["failed", number(row.failed + row.limited + row.poisoned), row.failed ? "bad" : null],
      ["programs", `${number(row.programs_done)} of ${number(row.programs_total)}`],
    ]),
    make("h3", {}, "Why results were compiled"),
    explained === null
      ? make("p", {class: "quiet"}, "Nobody remembers any more.")
      : causes(explained),
    table("Failed", ITEMS, failed),
    table("Slowest", ITEMS, slow));
}

// The counts are exact; records are examples, of which the daemon keeps some.
function causes(explained) {
  if (explained.causes.length === 0) return make("p", {class: "quiet"}, "Nothing was: all was known.");
  return make("div", {},
    table("Causes", [
      {title: "cause", cell: (row) => row.cause.replaceAll("_", " ")},
      {title: "results", number: true, cell: (row) => number(row.count)},
    ], explained.causes),
    recordList(explained.records.slice(0, 50)));
}

const ITEMS = [
  {title: "program", cell: (row) => link(`#/programs/${encodeURIComponent(row.program)}`, row.program)},
  {title: "for example", cell: (row) => optionsText(row.options)},
  {title: "variants", number: true, cell: (row) => number(row.served)},
  {title: "CPU", number: true, cell: (row) => duration(row.cpu_us / 1000)},
  {title: "outcome", cell: (row) => [row.outcome, ...row.diagnostics.map((one) => make("div", {class: "bad"}, diagnosticText(one)))]},
];

/** @param {any} one */
export function diagnosticText(one) {
  const where = one.path ? `${one.path}:${one.line}:${one.column}: ` : "";
  const when = one.condition ? ` (if ${one.condition})` : "";
  return `${where}${one.severity}: ${one.message} [${one.code}]${when}`;
}
