// SPDX-License-Identifier: MIT
// Questions to the command that serves this page.

export class ApiError extends Error {}

/**
 * The answer to /api/v1/NAME?query. A value that is a list is given once for each item.
 * @param {string} name @param {Record<string, string|string[]>} [query] @param {AbortSignal} [signal]
 */
export async function ask(name, query = {}, signal = undefined) {
  const search = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== "") search.append(key, one);
    }
  }
  let reply;
  try {
    reply = await fetch(`/api/v1/${name}?${search}`, {signal});
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new ApiError("kiln dashboard does not run any more; start it again in a terminal");
  }
  if (reply.status === 401 || reply.status === 403) throw new ApiError(await reply.text());
  const json = await reply.json();
  if (json.error) throw new ApiError(json.error);
  return json;
}
