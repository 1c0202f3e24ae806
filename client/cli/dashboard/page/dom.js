// SPDX-License-Identifier: MIT
// Elements of the page, made of text nodes alone: what a shader, a manifest or a daemon says is
// never markup here.

/**
 * make("td", {class: "number"}, "3") -> the element. Children that are strings or numbers become
 * text; null is left out.
 * @param {string} name
 * @param {Record<string, any>} attributes `onclick` and the like are listeners
 * @param {...any} children
 */
export function make(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else element.setAttribute(key, value === true ? "" : String(value));
  }
  append(element, children);
  return element;
}

/** @param {Element} element @param {any[]} children */
function append(element, children) {
  for (const child of children) {
    if (child === null || child === undefined) continue;
    if (Array.isArray(child)) append(element, child);
    else element.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
}

/**
 * A table. A column: {title, cell: row -> child, number?: boolean}.
 * @param {string} caption @param {any[]} columns @param {any[]} rows @param {string} [none] if there are no rows
 */
export function table(caption, columns, rows, none = "none") {
  if (rows.length === 0) return make("p", {class: "quiet"}, `${caption}: ${none}`);
  const kind = (column) => (column.number ? {class: "number"} : {});
  return make("div", {class: "scroll", tabindex: "0", role: "region", "aria-label": caption},
    make("table", {},
      make("caption", {}, caption),
      make("thead", {}, make("tr", {}, columns.map((column) => make("th", {scope: "col", ...kind(column)}, column.title)))),
      make("tbody", {}, rows.map((row) => make("tr", {}, columns.map((column) => make("td", kind(column), column.cell(row))))))));
}

/** Cards of [name, value, class?]. @param {any[]} rows */
export function cards(rows) {
  return make("div", {class: "cards"}, rows.map(([name, value, kind]) =>
    make("dl", {class: "card"}, make("dt", {}, name), make("dd", {class: kind}, value))));
}

/** @param {string} hash @param {...any} children */
export function link(hash, ...children) {
  return make("a", {href: hash}, ...children);
}
