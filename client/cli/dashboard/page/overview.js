// SPDX-License-Identifier: MIT
// What the daemon does now.
import {ask} from "./api.js";
import {batchTable} from "./batches.js";
import {cards, make, table} from "./dom.js";
import {duration, moment, number, percent, size} from "./text.js";

/** @param {HTMLElement} place @param {string} _ @param {AbortSignal} signal */
export async function overview(place, _, signal) {
  const {info, status, jobs, batches} = await ask("overview", {}, signal);
  place.replaceChildren(
    make("h2", {}, "Overview"),
    ...status.reasons.map((reason) => make("p", {class: "bad"}, `Degraded: ${reason}`)),
    cards([
      ["daemon", `kilnd ${info.version}`],
      ["up for", duration(info.uptime_ms)],
      ["process", `${info.pid} (${info.started_by})`],
      ["memory", `${size(status.memory.resident)} of ${size(status.memory.soft_limit)}`],
      ["connections", number(status.connections)],
      ["watch sessions", number(status.watch_sessions)],
    ]),
    lanes(status.lanes),
    table("Jobs", JOBS, jobs, "nothing is queued or runs"),
    batchTable("Batches", batches.slice(0, 8)),
    table("Upstreams", UPSTREAMS, status.upstreams, "no other daemon is asked"),
    table("In memory", CACHES, status.caches, "only for the daemon's own user"),
    table("Warnings", WARNINGS, [...status.warnings].reverse()),
    status.last_crash ? make("p", {class: "bad"}, "The run before crashed; kiln doctor shows the report.") : "");
}

function lanes(rows) {
  return table("Lanes", [
    {title: "lane", cell: (row) => row.name},
    {title: "running", number: true, cell: (row) => number(row.running)},
    {title: "queued", number: true, cell: (row) => number(row.queued)},
    {title: "the oldest waits for", number: true, cell: (row) => (row.queued ? duration(row.oldest_ms) : "–")},
  ], rows);
}

const JOBS = [
  {title: "job", cell: (row) => row.id},
  {title: "lane", cell: (row) => row.lane},
  {title: "of", cell: (row) => row.tenant},
  {title: "stage", cell: (row) => row.stage},
  {title: "age", number: true, cell: (row) => duration(row.age_ms)},
  {title: "CPU", number: true, cell: (row) => duration(row.cpu_ms)},
];

const UPSTREAMS = [
  {title: "address", cell: (row) => row.url},
  {title: "state", cell: (row) => make("span", {class: row.state === "fails" ? "bad" : null}, row.state)},
  {title: "is written to", cell: (row) => (row.writes ? "yes" : "no")},
  {title: "cause", cell: (row) => row.cause},
];

const CACHES = [
  {title: "what", cell: (row) => row.name},
  {title: "bytes", number: true, cell: (row) => size(row.bytes)},
  {title: "of", number: true, cell: (row) => (row.max_bytes ? size(row.max_bytes) : "–")},
  {title: "entries", number: true, cell: (row) => number(row.entries)},
  {title: "found", number: true, cell: (row) => percent(row.hits, row.hits + row.misses)},
];

const WARNINGS = [
  {title: "when", cell: (row) => moment(row.at_ms)},
  {title: "what", cell: (row) => row.text},
];
