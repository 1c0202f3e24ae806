// SPDX-License-Identifier: MIT
// An index section before it is compressed, of a pack that is written and of one that was read:
// what a delta's section is compressed after. See spec/cache 10.4, 10.9
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "cache/pack/columns.h"
#include "cache/pack/format.h"
#include "cache/pack/tables.h"
#include "cache/pack/write/index.h"

namespace kiln::pack {

struct RowSection {
  Bytes columns;
  uint64_t rows = 0;
};

// The columns of a section that has rows; nothing for the others. T: Tables or Index.
template <class T>
std::optional<RowSection> RowSectionOf(const T& tables, SectionKind kind) {
  const auto of = []<class Row>(const std::vector<Row>& rows) {
    return RowSection{.columns = ToColumns(std::span<const Row>(rows)), .rows = rows.size()};
  };
  switch (kind) {
    case SectionKind::kPrograms:
      return of(tables.programs);
    case SectionKind::kOptions:
      return of(tables.options);
    case SectionKind::kEntries:
      return of(tables.entries);
    case SectionKind::kLayouts:
      return of(tables.layouts);
    case SectionKind::kArtifacts:
      return of(tables.artifacts);
    case SectionKind::kCode:
      return of(tables.code);
    case SectionKind::kPipelines:
      return of(tables.pipelines);
    case SectionKind::kPasses:
      return of(tables.passes);
    case SectionKind::kWarm:
      return of(tables.warm);
    case SectionKind::kHints:
      return of(tables.hints);
    case SectionKind::kCacheRows:
      return of(tables.cache_rows);
    case SectionKind::kBlobs:
      return of(tables.blobs);
    case SectionKind::kBlocks:
      return of(tables.blocks);
    default:
      return std::nullopt;
  }
}

struct IndexSection {
  SectionKind kind = SectionKind::kInfo;
  Bytes raw;
  uint64_t rows = 0;
};

// All index sections that a writer writes of an index, in the order of the file.
std::vector<IndexSection> IndexSectionsOf(const Bytes& info, const Index& index);

// Any index section of a pack that was read; empty if it has none of that kind.
Bytes RawSection(const Tables& tables, SectionKind kind);

}  // namespace kiln::pack
