// SPDX-License-Identifier: MIT
// Reads the contents of a pack back, for flatten, import and compare. The cost is that of the
// tables; content is read only where a caller asks for a blob.
#include "cache/pack/unpack.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "cache/pack/errors.h"
#include "cache/record.h"

namespace kiln::pack {
namespace {

// The size is that of the content, not that of its stored form.
Digest BlobDigest(const Tables& tables, uint32_t blob) {
  return {.id = tables.blobs[blob].id, .size = tables.blobs[blob].raw_size};
}

// The inverse of what the writer does with contents: rows name each other by number, contents by
// name. Numbers were checked when the tables were read, so none is checked here.
Program ProgramOf(const Tables& tables, const ProgramRow& row) {
  Program program{.name = std::string(tables.String(row.name)),
                  .pipeline = std::string(tables.String(row.pipeline)),
                  .options = {}};
  for (uint32_t i = 0; i < row.option_count; ++i) {
    const OptionRow& option = tables.options[row.first_option + i];
    Option out{.name = std::string(tables.String(option.name)),
               .type = option.type,
               .default_bits = option.default_bits,
               .values = {},
               .instance = option.instance != 0};
    for (uint32_t value = 0; value < option.value_count; ++value) {
      out.values.emplace_back(tables.String(option.first_value + value));
    }
    program.options.push_back(std::move(out));
  }
  return program;
}

// Options are those of the program by number, so the masks of an entry are read with its program.
Entry EntryOf(const Tables& tables, const EntryRow& row) {
  Entry entry{.id = row.id,
              .program = row.program,
              .target = std::string(tables.String(row.target)),
              .masks = {}};
  const uint32_t options = tables.programs[row.program].option_count;
  for (uint32_t i = 0; i < row.live_count; ++i) {
    const std::span<const uint64_t> mask = tables.Mask(row.first_live + i);
    std::vector<uint32_t>& live = entry.masks.emplace_back();
    for (uint32_t option = 0; option < options; ++option) {
      // Bit i of a mask is option i of the program, in their order by name.
      if ((mask[option / 64] >> (option % 64) & 1) != 0) {
        live.push_back(option);
      }
    }
  }
  return entry;
}

Artifact ArtifactOf(const Tables& tables, const ArtifactRow& row) {
  Artifact artifact{.live_key = row.live_key,
                    .layout_hash = tables.LayoutHash(row),
                    .state_id = tables.StateId(row),
                    .entry = row.entry,
                    .code = {},
                    .metadata = BlobDigest(tables, row.metadata),
                    // The place within the file keeps the order that the points of the space had.
                    .order = static_cast<uint32_t>(&row - tables.artifacts.data())};
  for (uint32_t i = 0; i < row.code_count; ++i) {
    const CodeRow& code = tables.code[row.first_code + i];
    artifact.code.push_back({.stage = code.stage, .digest = BlobDigest(tables, code.blob)});
  }
  return artifact;
}

Result<ExportRow> RowOf(const Tables& tables, const CacheRow& row) {
  const ByteView value = tables.cache_values.subspan(row.offset, row.size);
  ExportRow out{
      .key = {.level = static_cast<cache::Level>(row.level), .space = row.space, .id = row.key},
      .value = Bytes(value.begin(), value.end()),
      .refs = {}};
  // What a cached row refers to is not stored beside it: it is read out of the row, with the same
  // function that the store uses.
  const Result<cache::RowSummary> summary = cache::SummarizeRow(out.key.level, value);
  if (!summary.ok()) {
    return PackError(kCorrupt, "section CROW: " + KeyText(out.key) + ": " +
                                   summary.error().context + "; export it again");
  }
  for (const cache::Product& product : summary->products) {
    out.refs.push_back(product.digest);
  }
  return out;
}

// (program, target) -> artifacts by live key. Views into the tables, which must outlive the map.
using Artifacts = std::map<Hash128, const ArtifactRow*>;
using ByEntry = std::map<std::pair<std::string_view, std::string_view>, Artifacts>;

// of_entry is indexed as the entries are. Two entries of one program and target share a group.
ByEntry Group(const Tables& tables) {
  ByEntry groups;
  std::vector<Artifacts*> of_entry;
  for (const EntryRow& entry : tables.entries) {
    of_entry.push_back(
        &groups[{tables.String(tables.programs[entry.program].name), tables.String(entry.target)}]);
  }
  for (const ArtifactRow& row : tables.artifacts) {
    of_entry[row.entry]->emplace(row.live_key, &row);
  }
  return groups;
}

bool SameBlobs(const Tables& a, const ArtifactRow& x, const Tables& b, const ArtifactRow& y) {
  // Blobs compare by id, since rows of two packs have nothing to do with each other.
  const auto blob = [](const Tables& tables, uint32_t row) {
    return row == kNone ? Hash128{} : tables.blobs[row].id;
  };
  if (x.code_count != y.code_count || a.LayoutHash(x) != b.LayoutHash(y) ||
      a.StateId(x) != b.StateId(y) || blob(a, x.metadata) != blob(b, y.metadata)) {
    return false;
  }
  for (uint32_t i = 0; i < x.code_count; ++i) {
    const CodeRow& p = a.code[x.first_code + i];
    const CodeRow& q = b.code[y.first_code + i];
    if (p.stage != q.stage || a.blobs[p.blob].id != b.blobs[q.blob].id) {
      return false;
    }
  }
  return true;
}

// What became of the artifacts of one entry; counts the equal ones in `out`.
ProgramChange ChangeOf(const Tables& a, const Artifacts& old, const Tables& b, const Artifacts& now,
                       PackDifference& out) {
  ProgramChange change;
  for (const auto& [key, row] : old) {
    const auto same = now.find(key);
    if (same == now.end()) {
      ++change.removed;
    } else if (SameBlobs(a, *row, b, *same->second)) {
      ++out.equal_artifacts;
    } else {
      ++change.changed;
    }
  }
  for (const auto& [key, row] : now) {
    change.added += old.contains(key) ? 0 : 1;
  }
  return change;
}

// Content that both packs have is neither new nor gone, whatever artifacts it belongs to.
void CompareBlobs(const Tables& a, const Tables& b, PackDifference& out) {
  const auto& x = a.blobs_by_id;
  const auto& y = b.blobs_by_id;
  // Both are sorted by id: one walk over the two.
  for (auto i = x.begin(), j = y.begin(); i != x.end() || j != y.end();) {
    if (j == y.end() || (i != x.end() && a.blobs[*i].id < b.blobs[*j].id)) {
      ++out.gone_blobs;
      ++i;
    } else if (i == x.end() || b.blobs[*j].id < a.blobs[*i].id) {
      ++out.new_blobs;
      out.new_bytes += b.blobs[*j].raw_size;
      ++j;
    } else {
      ++i;
      ++j;
    }
  }
}

// A pipeline may serve several artifacts; the first one stands for it.
Warm WarmOf(const Tables& tables, const WarmRow& row) {
  Warm warm{.live_key = tables.artifacts[tables.pipelines[row.pipeline].artifact].live_key,
            .pass = row.pass == kNone ? std::string()
                                      : std::string(tables.String(tables.passes[row.pass].name)),
            .priority = row.priority,
            .lane = row.lane,
            .creation_us = row.creation_us,
            .first_use_us = row.first_use_us,
            .hints = {}};
  for (const HintRow& hint : tables.Hints(row)) {
    warm.hints.push_back({.set = hint.set,
                          .binding = hint.binding,
                          .sampler_class = hint.sampler_class,
                          .format = hint.format});
  }
  return warm;
}

}  // namespace

// Everything but the blobs, which BlobsOf hands out one by one: a pack may be larger than memory.
Result<Contents> ContentsOf(const Pack& pack) {
  const Tables& tables = pack.tables();
  Contents contents;
  contents.info.assign(tables.info.begin(), tables.info.end());
  contents.build = tables.header.build;
  contents.cache_export = (tables.header.flags & kCacheExport) != 0;
  for (const ProgramRow& row : tables.programs) {
    contents.programs.push_back(ProgramOf(tables, row));
  }
  for (const EntryRow& row : tables.entries) {
    contents.entries.push_back(EntryOf(tables, row));
  }
  for (const ArtifactRow& row : tables.artifacts) {
    // The format allows a row without metadata, but no writer makes one.
    if (row.metadata == kNone) {
      return PackError(kCorrupt, "section ARTF: " + row.live_key.hex() + " has no metadata");
    }
    contents.artifacts.push_back(ArtifactOf(tables, row));
  }
  for (const PipelineRow& row : tables.pipelines) {
    if (row.warm_rank != kNone) {
      contents.artifacts[row.artifact].warm_rank = row.warm_rank;
    }
  }
  for (const PassRow& row : tables.passes) {
    contents.passes.push_back(
        {.name = std::string(tables.String(row.name)),
         .view_mask = row.view_mask,
         .samples = row.samples,
         .color_formats = {row.color_formats.begin(), row.color_formats.begin() + row.color_count},
         .depth_format = row.depth_format});
  }
  for (const WarmRow& row : tables.warm) {
    contents.warm.push_back(WarmOf(tables, row));
  }
  for (const CacheRow& row : tables.cache_rows) {
    KILN_TRY(ExportRow exported, RowOf(tables, row));
    contents.rows.push_back(std::move(exported));
  }
  return contents;
}

// A blob of a base is found as well. That is how a chain is flattened.
BlobSource BlobsOf(const Pack& pack) {
  return [&pack](const Digest& digest) -> Result<Bytes> {
    const std::optional<uint32_t> row = pack.FindBlob(digest.id);
    if (!row.has_value()) {
      return Error{.code = ErrorCode::kNotFound,
                   .context = "blob " + digest.id.hex() + " is not in the pack",
                   .reason = {}};
    }
    return pack.ReadBlob(*row);
  };
}

// Linear in the tables of both, apart from sorting the programs that changed.
PackDifference Compare(const Pack& first, const Pack& second) {
  const Tables& a = first.tables();
  const Tables& b = second.tables();
  // By program and target, because entry ids change with every source and would match nothing.
  const ByEntry before = Group(a);
  ByEntry after = Group(b);
  PackDifference out;
  for (const auto& [name, old] : before) {
    const auto found = after.find(name);
    const bool stays = found != after.end();
    ProgramChange change = ChangeOf(a, old, b, stays ? found->second : Artifacts{}, out);
    if (!stays || change.added + change.removed + change.changed != 0) {
      change.kind = stays ? ProgramChange::Kind::kChanged : ProgramChange::Kind::kRemoved;
      change.program = name.first;
      change.target = name.second;
      out.programs.push_back(std::move(change));
    }
    if (stays) {
      // What is left at the end is new.
      after.erase(found);
    }
  }
  for (const auto& [name, now] : after) {
    out.programs.push_back({.kind = ProgramChange::Kind::kAdded,
                            .program = std::string(name.first),
                            .target = std::string(name.second),
                            .added = now.size()});
  }
  std::sort(out.programs.begin(), out.programs.end(),
            [](const ProgramChange& x, const ProgramChange& y) {
              return std::tie(x.program, x.target) < std::tie(y.program, y.target);
            });
  CompareBlobs(a, b, out);
  return out;
}

}  // namespace kiln::pack
