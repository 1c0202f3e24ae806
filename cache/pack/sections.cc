// SPDX-License-Identifier: MIT
// The index of a pack as sections of bytes, in the order in which the format has them
// (spec/cache 10). Readers rely on the order only where one section is needed to check another.
#include "cache/pack/sections.h"

#include <algorithm>
#include <span>
#include <string>
#include <utility>

namespace kiln::pack {
namespace {

// u32 count, where each ends, bytes.
Bytes StringsOf(const std::vector<std::string>& strings) {
  Bytes bytes;
  AppendLittle(bytes, static_cast<uint32_t>(strings.size()));
  uint32_t end = 0;
  for (const std::string& text : strings) {
    end += static_cast<uint32_t>(text.size());
    AppendLittle(bytes, end);
  }
  for (const std::string& text : strings) {
    Append(bytes, AsBytes(text));
  }
  return bytes;
}

Bytes LiveOf(const Index& index) {
  const ByteView bytes = std::as_bytes(std::span(index.live));
  return {bytes.begin(), bytes.end()};
}

}  // namespace

std::vector<IndexSection> IndexSectionsOf(const Bytes& info, const Index& index) {
  std::vector<IndexSection> sections;
  const auto add = [&](SectionKind kind, Bytes raw, uint64_t rows) {
    sections.push_back({.kind = kind, .raw = std::move(raw), .rows = rows});
  };
  const auto add_rows = [&](SectionKind kind) {
    RowSection section = *RowSectionOf(index, kind);
    add(kind, std::move(section.columns), section.rows);
  };
  add(SectionKind::kInfo, info, 1);
  add(SectionKind::kStrings, StringsOf(index.strings), index.strings.size());
  add_rows(SectionKind::kPrograms);
  add_rows(SectionKind::kOptions);
  add_rows(SectionKind::kEntries);
  // A row of the live table is one word, the number of its entry, and a mask of live_words.
  add(SectionKind::kLive, LiveOf(index), index.live.size() / (1 + index.live_words));
  add_rows(SectionKind::kLayouts);
  add_rows(SectionKind::kArtifacts);
  add_rows(SectionKind::kCode);
  add_rows(SectionKind::kPipelines);
  // Sections that say nothing are left out: older readers skip what they do not know, and equal
  // contents stay equal bytes.
  if (!index.passes.empty()) {
    add_rows(SectionKind::kPasses);
  }
  if (!index.warm.empty()) {
    add_rows(SectionKind::kWarm);
  }
  if (!index.hints.empty()) {
    add_rows(SectionKind::kHints);
  }
  if (!index.cache_rows.empty()) {
    add_rows(SectionKind::kCacheRows);
    add(SectionKind::kCacheValues, index.cache_values, 1);
  }
  add_rows(SectionKind::kBlobs);
  add_rows(SectionKind::kBlocks);
  return sections;
}

// What a base has of a section, in the form in which it is stored: the prefix for the section of a
// delta. Rows are put into columns again, since only their own form is kept.
Bytes RawSection(const Tables& tables, SectionKind kind) {
  if (std::optional<RowSection> rows = RowSectionOf(tables, kind); rows.has_value()) {
    return std::move(rows->columns);
  }
  const auto found = std::find_if(tables.raw.begin(), tables.raw.end(),
                                  [&](const auto& section) { return section.first == kind; });
  return found == tables.raw.end() ? Bytes() : found->second;
}

}  // namespace kiln::pack
