// SPDX-License-Identifier: MIT
// What is stored, and what was missed.
import {ask} from "./api.js";
import {cards, make, table} from "./dom.js";
import {duration, moment, number, percent, size} from "./text.js";

/** @param {HTMLElement} place @param {string} _ @param {AbortSignal} signal */
export async function cache(place, _, signal) {
  const {stats, pins} = await ask("cache", {}, signal);
  place.replaceChildren(
    make("h2", {}, "Cache"),
    make("p", {class: "quiet"}, stats.path, stats.read_only ? " (read only)" : ""),
    cards([
      ["on disk", `${size(stats.used_bytes)} of ${size(stats.max_bytes)}`],
      ["before compression", size(stats.raw_bytes)],
      ["variants", number(stats.variants)],
      ["distinct code", number(stats.code_distinct)],
      ["CPU saved", duration(stats.cpu_saved_us / 1000)],
      ["damaged", number(stats.corrupt), stats.corrupt ? "bad" : null],
    ]),
    table("By level", [
      {title: "level", cell: (row) => row.name},
      {title: "records", number: true, cell: (row) => number(row.records)},
      {title: "bytes", number: true, cell: (row) => size(row.bytes)},
      {title: "hits", number: true, cell: (row) => number(row.hits)},
      {title: "found", number: true, cell: (row) => percent(row.hits, row.hits + row.misses)},
    ], stats.levels),
    table("Misses by cause", [
      {title: "cause", cell: (row) => row.cause.replaceAll("_", " ")},
      {title: "count", number: true, cell: (row) => number(row.count)},
    ], stats.misses),
    table("Pins", [
      {title: "name", cell: (row) => row.name},
      {title: "owner", cell: (row) => row.owner},
      {title: "results", number: true, cell: (row) => number(row.records)},
      {title: "bytes", number: true, cell: (row) => size(row.bytes)},
      {title: "until", cell: (row) => (row.until_s ? moment(row.until_s * 1000) : "for ever")},
      {title: "note", cell: (row) => row.note},
    ], pins, "kiln cache pin makes one"));
}
