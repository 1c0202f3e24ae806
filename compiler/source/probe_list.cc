// SPDX-License-Identifier: MIT
// What includes of a source asked for, as bytes of a module record (spec/cache 2.4): a row for each
// path, with the digest of what was found or nothing. Rows keep the order of asking.
#include "compiler/source/probe_list.h"

#include <algorithm>
#include <utility>

#include "compiler/base/hash/canonical.h"
#include "compiler/base/threads/stop.h"
#include "compiler/source/macro_path.h"
#include "compiler/source/probed_bytes.h"

namespace kiln {
namespace {

// The version of the format is part of its name: another one is another domain.
constexpr std::string_view kDomain = "kiln.probed.1";

}  // namespace

bool ArePathsOfAModule(std::vector<std::string_view> paths) {
  uint64_t bytes = 0;
  for (const std::string_view path : paths) {
    CheckStop();
    bytes += IsMacroPath(path) ? 0 : path.size();  // names of macros have a bound of their own
  }
  return bytes <= kMostProbedBytes && AreDistinct(std::move(paths));
}

// By value: sorting must not change the order of the probes.
bool AreDistinct(std::vector<std::string_view> paths) {
  std::ranges::sort(paths);
  return std::ranges::adjacent_find(paths) == paths.end();
}

// Paths are the source's choice and may hold what is no text of the canonical form.
Bytes EncodeProbes(std::span<const Probe> probes) {
  CanonicalList rows;
  for (const Probe& probe : probes) {
    CheckStop();
    CanonicalList row;
    row.Raw(AsBytes(probe.path));
    // A probe that found nothing has an empty content.
    if (probe.present) {
      row.Content(probe.digest);
    } else {
      row.Raw({});
    }
    rows.List(row);
  }
  CanonicalWriter writer(kDomain);
  writer.List(1, rows);
  return std::move(writer).bytes();
}

// From a store or a worker, so everything may be made up; a path has one answer.
Result<std::vector<Probe>> DecodeProbes(ByteView bytes) {
  // Every path is there once, in the order in which it was asked for.
  KILN_TRY(CanonicalReader reader, CanonicalReader::Open(bytes, kDomain));
  KILN_TRY(const std::vector<ByteView> rows, reader.List(1));
  KILN_TRY_VOID(reader.Finish());
  std::vector<Probe> probes;
  std::vector<std::string_view> paths;
  for (const ByteView row : rows) {
    CheckStop();
    KILN_TRY(const std::vector<ByteView> parts, DecodeTuple(row, 2));
    Probe probe{.path = std::string(AsText(parts[0])), .present = !parts[1].empty(), .digest = {}};
    if (probe.present) {
      KILN_TRY(probe.digest, DecodeContent(parts[1]));
    }
    paths.push_back(AsText(parts[0]));
    probes.push_back(std::move(probe));
  }
  if (!ArePathsOfAModule(std::move(paths))) {
    return Error{.code = ErrorCode::kCorrupt,
                 .context = "a path that was probed twice, or more of them than a module has",
                 .reason = {}};
  }
  return probes;
}

}  // namespace kiln
