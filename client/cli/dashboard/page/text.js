// SPDX-License-Identifier: MIT
// Numbers as people read them.

/** @param {number} bytes */
export function size(bytes) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  for (; bytes >= 1024 && unit + 1 < units.length; ++unit) bytes /= 1024;
  return `${unit === 0 || bytes >= 100 ? Math.round(bytes) : bytes.toFixed(1)} ${units[unit]}`;
}

/** @param {number} ms */
export function duration(ms) {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  const seconds = ms / 1000;
  if (seconds < 120) return `${seconds.toFixed(1)} s`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`;
  return seconds < 172800 ? `${Math.round(seconds / 3600)} h` : `${Math.round(seconds / 86400)} days`;
}

/** @param {number} ms Unix */
export function moment(ms) {
  return ms === 0 ? "–" : new Date(ms).toLocaleString();
}

/** Counts may be decimal text beyond what a number holds. @param {number|string} count */
export function number(count) {
  return BigInt(count || 0).toLocaleString("en");
}

/** @param {number} part @param {number} whole */
export function percent(part, whole) {
  return whole === 0 ? "–" : `${((100 * part) / whole).toFixed(part === whole ? 0 : 1)} %`;
}

/** {fog: true, lights: 4} -> "fog=true lights=4" @param {Record<string, any>} options */
export function optionsText(options) {
  return Object.entries(options).map(([name, value]) => `${name}=${value}`).join(" ") || "no options";
}
