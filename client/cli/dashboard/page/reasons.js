// SPDX-License-Identifier: MIT
// Why the latest requests were hits or misses.
import {ask} from "./api.js";
import {link, make} from "./dom.js";
import {duration, moment, optionsText} from "./text.js";

/** @param {HTMLElement} place @param {string} _ @param {AbortSignal} signal */
export async function reasons(place, _, signal) {
  const {records} = await ask("latest", {count: "100"}, signal);
  place.replaceChildren(make("h2", {}, "Reasons"),
    make("p", {class: "quiet"}, "The latest requests of the daemon, and why each was known or compiled."),
    recordList(records));
}

/** @param {any[]} records */
export function recordList(records) {
  if (records.length === 0) return make("p", {class: "quiet"}, "None are remembered.");
  return make("div", {}, records.map(record));
}

function record(row) {
  const known = row.result === "hit";
  return make("article", {class: "why"},
    make("div", {},
      make("strong", {class: known ? "good" : "bad"}, known ? `hit (${row.level})` : "miss"), " ",
      link(`#/programs/${encodeURIComponent(row.program)}`, row.program), ` ${row.target} `,
      make("span", {class: "quiet"}, row.at_ms ? moment(row.at_ms) : "")),
    make("div", {}, optionsText(row.options)),
    make("div", {}, causeText(row)),
    row.changes.map((change) => make("div", {}, changeText(change))),
    row.ignored_options.length ? make("div", {class: "quiet"}, `not consulted here: ${row.ignored_options.join(" ")}`) : "",
    make("div", {class: "quiet"},
      Object.entries(row.stages_ms).map(([stage, ms]) => `${stage} ${duration(ms)}`).join(", ")));
}

const EQUAL = {
  same_variant: "the same variant",
  same_live_options: "the same values of all options that are live",
  same_sources: "the same sources",
};

function causeText(row) {
  const cause = EQUAL[row.cause] ?? row.cause.replaceAll("_", " ");
  const first = row.cause === "first_seen" ? ": no earlier request for this program and target" : "";
  return `${cause}${first}${row.detail ? `, ${row.detail}` : ""}`;
}

function changeText(change) {
  const values = change.old && change.new ? `${change.old} → ${change.new}` : change.old || change.new;
  return `${change.cause.replaceAll("_", " ")}: ${change.field} ${values}${change.detail ? `, ${change.detail}` : ""}`;
}
