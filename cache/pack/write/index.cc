// SPDX-License-Identifier: MIT
// The whole index is made in memory from the contents of a pack, then written by the writer in one
// go. Every order in it follows from the contents alone (spec/cache 10.8): each list is sorted
// once, by what its rows say, and rows refer to each other by where they stand then. The maps from
// contents to rows live as long as the indexer.
#include "cache/pack/write/index.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "cache/pack/errors.h"

namespace kiln::pack {
namespace {

Error Wrong(std::string text) {
  return {.code = ErrorCode::kInvalidArgument, .context = std::move(text), .reason = {}};
}

// Indices of `items`, sorted by what `key` gives.
// Contents come in any order and the index has one, so sorting happens here and nowhere else.
// Stable, since equal keys keep the caller's order.
template <class Items, class Key>
std::vector<uint32_t> Order(const Items& items, const Key& key) {
  std::vector<uint32_t> order(items.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return key(items[a]) < key(items[b]); });
  return order;
}

class Indexer {
 public:
  explicit Indexer(const Contents& contents) : contents_(contents) {}

  // The order of the steps follows the references: rows of entries name programs, artifacts name
  // pipelines and blobs. Strings get their numbers as they are first needed.
  Result<Index> Make() {
    KILN_TRY_VOID(Check());
    row_order_ = Order(contents_.rows, [](const ExportRow& row) {
      return std::tuple(row.key.space, row.key.level, row.key.id);
    });
    AddPrograms();
    AddEntries();
    artifact_order_ = Order(contents_.artifacts, [&](const Artifact& artifact) {
      return std::tuple(entry_rows_[artifact.entry], artifact.order, artifact.live_key);
    });
    AddBlobs();
    AddPipelines();
    AddArtifacts();
    AddPasses();
    AddWarm();
    AddCacheRows();
    return std::move(index_);
  }

 private:
  Result<void> Check() const;
  Result<void> CheckRows() const;
  void AddPrograms();
  void AddEntries();
  void AddMasks(const Entry& entry, uint32_t row);
  std::vector<uint32_t> EntryGroups() const;
  void AddBlobs();
  uint32_t CodeRows(const Artifact& artifact);
  void AddArtifacts();
  void AddPipelines();
  Result<void> CheckWarm(const std::set<Hash128>& artifacts) const;
  void AddPasses();
  void AddWarm();
  void AddCacheRows();

  // Equal texts are one string, but for values of enums.
  uint32_t String(const std::string& text) {
    const auto [found, is_new] =
        strings_.emplace(text, static_cast<uint32_t>(index_.strings.size()));
    if (is_new) {
      index_.strings.push_back(text);
    }
    return found->second;
  }
  uint32_t Blob(const Hash128& id) const { return blobs_.at(id); }

  const Contents& contents_;
  Index index_;
  std::map<std::string, uint32_t> strings_;
  std::vector<uint32_t> program_rows_, entry_rows_;  // of contents' programs and entries
  std::vector<uint32_t> artifact_order_;             // contents' artifacts, sorted
  std::vector<uint32_t> row_order_;                  // contents' rows of the cache, sorted
  std::map<Hash128, uint32_t> pipelines_;            // state id -> row
  std::map<Hash128, uint32_t> blobs_;
  std::map<std::vector<std::pair<uint32_t, uint32_t>>, uint32_t> code_rows_;
  std::map<std::string, uint32_t> pass_rows_;
};

// Everything that an index may not be is refused with a word about the input, so that the writer
// never makes a pack that no reader takes.
Result<void> Indexer::Check() const {
  if (contents_.artifacts.size() > kMaxEntries) {
    return PackError(kLimit, fmt::format("{} artifacts; a pack has at most {}",
                                         contents_.artifacts.size(), kMaxEntries));
  }
  // What a reader would refuse is refused here with a message about the input, before anything is
  // written.
  std::set<std::string_view> names;
  for (const Program& program : contents_.programs) {
    if (!names.insert(program.name).second) {
      return Wrong(fmt::format("two programs are named '{}'", program.name));
    }
  }
  std::set<std::pair<uint32_t, std::string_view>> entries;
  for (const Entry& entry : contents_.entries) {
    if (entry.program >= contents_.programs.size() ||
        !entries.emplace(entry.program, entry.target).second) {
      return Wrong(fmt::format("entry for target '{}' is double or has no program", entry.target));
    }
    for (const std::vector<uint32_t>& mask : entry.masks) {
      for (const uint32_t option : mask) {
        if (option >= contents_.programs[entry.program].options.size()) {
          return Wrong(fmt::format("a mask of '{}' names option {}",
                                   contents_.programs[entry.program].name, option));
        }
      }
    }
  }
  std::set<Hash128> keys;
  // Programs of equal content have equal keys, whatever their names: a key is for an entry.
  std::set<std::pair<Hash128, uint32_t>> of_entries;
  for (const Artifact& artifact : contents_.artifacts) {
    if (artifact.entry >= contents_.entries.size()) {
      return Wrong(fmt::format("artifact {} has no entry", artifact.live_key.hex()));
    }
    const Entry& entry = contents_.entries[artifact.entry];
    const std::string& program = contents_.programs[entry.program].name;
    if (!of_entries.emplace(artifact.live_key, artifact.entry).second) {
      return Wrong(fmt::format("artifact {} of program '{}' for target '{}' is there twice",
                               artifact.live_key.hex(), program, entry.target));
    }
    if (artifact.code.size() > UINT16_MAX) {
      return Wrong(fmt::format("artifact {} of program '{}' for target '{}' has {} stages",
                               artifact.live_key.hex(), program, entry.target,
                               artifact.code.size()));
    }
    keys.insert(artifact.live_key);
  }
  KILN_TRY_VOID(CheckWarm(keys));
  return CheckRows();
}

Result<void> Indexer::CheckWarm(const std::set<Hash128>& artifacts) const {
  std::set<std::string_view> passes;
  for (const Pass& pass : contents_.passes) {
    if (!passes.insert(pass.name).second || pass.color_formats.size() > kMaxColorFormats) {
      return Wrong(fmt::format("pass '{}' is double or has too many colours", pass.name));
    }
  }
  uint64_t hints = 0;
  for (const Warm& warm : contents_.warm) {
    if (!artifacts.contains(warm.live_key) || warm.hints.size() > UINT8_MAX ||
        (!warm.pass.empty() && !passes.contains(warm.pass))) {
      return Wrong(fmt::format("a warm pipeline names artifact {} and pass '{}'",
                               warm.live_key.hex(), warm.pass));
    }
    hints += warm.hints.size();
  }
  // A row has 24 bits for the first hint and 8 for their number.
  if (hints > 0xFFFFFF) {
    return PackError(kLimit, fmt::format("{} image hints; a pack has at most {}", hints, 0xFFFFFF));
  }
  return {};
}

Result<void> Indexer::CheckRows() const {
  if (!contents_.rows.empty() && !contents_.cache_export) {
    return Wrong("rows of the cache belong into a cache export");
  }
  std::set<cache::Key> keys;
  for (const ExportRow& row : contents_.rows) {
    if (row.key.level == cache::Level::kContent || !keys.insert(row.key).second ||
        row.value.size() > cache::kMaxValueBytes) {
      return Wrong(fmt::format("row {} is double, too large or no row", KeyText(row.key)));
    }
  }
  return {};
}

// By name, since readers search programs by halving.
void Indexer::AddPrograms() {
  program_rows_.resize(contents_.programs.size());
  for (const uint32_t i :
       Order(contents_.programs, [](const Program& p) -> const std::string& { return p.name; })) {
    const Program& program = contents_.programs[i];
    program_rows_[i] = static_cast<uint32_t>(index_.programs.size());
    index_.programs.push_back({.name = String(program.name),
                               .pipeline = String(program.pipeline),
                               .first_option = static_cast<uint32_t>(index_.options.size()),
                               .option_count = static_cast<uint32_t>(program.options.size())});
    for (const Option& option : program.options) {
      OptionRow row{.name = String(option.name),
                    .type = option.type,
                    .default_bits = option.default_bits,
                    .first_value = 0,
                    .value_count = static_cast<uint32_t>(option.values.size()),
                    .instance = option.instance ? 1U : 0U};
      row.first_value = static_cast<uint32_t>(index_.strings.size());
      // Values of an enum follow each other, so they are not shared with other strings.
      index_.strings.insert(index_.strings.end(), option.values.begin(), option.values.end());
      index_.options.push_back(row);
    }
    // All masks have the width of the program with most options, so rows of the table have one
    // size.
    const auto words = static_cast<uint32_t>((program.options.size() + 63) / 64);
    index_.live_words = std::max(index_.live_words, words);
  }
}

// Requires: AddPrograms has set the width of a row.
void Indexer::AddMasks(const Entry& entry, uint32_t row) {
  std::vector<std::vector<uint64_t>> masks;
  for (const std::vector<uint32_t>& options : entry.masks) {
    std::vector<uint64_t> mask(index_.live_words, 0);
    for (const uint32_t option : options) {
      mask[option / 64] |= uint64_t{1} << (option % 64);
    }
    masks.push_back(std::move(mask));
  }
  // Masks of one entry that are equal as sets are one row.
  std::sort(masks.begin(), masks.end());
  masks.erase(std::unique(masks.begin(), masks.end()), masks.end());
  const uint32_t row_words = 1 + index_.live_words;
  EntryRow& out = index_.entries[row];
  out.first_live = static_cast<uint32_t>(index_.live.size() / row_words);
  out.live_count = static_cast<uint32_t>(masks.size());
  for (const std::vector<uint64_t>& mask : masks) {
    index_.live.push_back(row);  // LiveHead
    index_.live.insert(index_.live.end(), mask.begin(), mask.end());
  }
}

// Sorted by program and target, as a reader searches them.
void Indexer::AddEntries() {
  entry_rows_.resize(contents_.entries.size());
  const auto key = [&](const Entry& entry) {
    return std::pair<uint32_t, std::string_view>(program_rows_[entry.program], entry.target);
  };
  for (const uint32_t i : Order(contents_.entries, key)) {
    const Entry& entry = contents_.entries[i];
    const auto row = static_cast<uint32_t>(index_.entries.size());
    entry_rows_[i] = row;
    index_.entries.push_back(
        {.id = entry.id, .program = program_rows_[entry.program], .target = String(entry.target)});
    ProgramRow& program = index_.programs[program_rows_[entry.program]];
    // Entries are sorted by program, so those of one program are a range.
    program.first_entry = program.entry_count == 0 ? row : program.first_entry;
    ++program.entry_count;
    AddMasks(entry, row);
  }
}

// Entries side by side are in one group until its blobs have so many bytes.
constexpr uint64_t kGroupBytes = uint64_t{8} << 20;

// The group of each entry.
std::vector<uint32_t> Indexer::EntryGroups() const {
  std::vector<uint64_t> bytes(index_.entries.size());
  std::set<Hash128> seen;
  const auto add = [&](uint32_t entry, const Digest& digest) {
    // A blob counts for the first entry that has it, which is where it will lie.
    bytes[entry] += seen.insert(digest.id).second ? digest.size : 0;
  };
  for (const uint32_t i : artifact_order_) {
    const Artifact& artifact = contents_.artifacts[i];
    for (const StageBlob& code : artifact.code) {
      add(entry_rows_[artifact.entry], code.digest);
    }
    add(entry_rows_[artifact.entry], artifact.metadata);
  }
  // Greedy, in the order of entries: a group ends with the entry that fills it, so groups are of
  // about equal size and an entry is never split.
  std::vector<uint32_t> groups(bytes.size());
  uint32_t group = 0;
  uint64_t in_group = 0;
  for (size_t entry = 0; entry < bytes.size(); ++entry) {
    groups[entry] = group;
    in_group += bytes[entry];
    if (in_group >= kGroupBytes) {
      ++group;
      in_group = 0;
    }
  }
  return groups;
}

// Every blob once, first seen in the order of the data.
void Indexer::AddBlobs() {
  // Data are ordered by group, then by stage, then by artifact. Blobs of one stage of neighbouring
  // programs then lie together, which is what families live from.
  struct Use {
    uint32_t group = 0;
    uint32_t stage = 0;  // metadata last
    uint32_t entry = 0;
    uint32_t place = 0;
    Digest digest;
  };
  const std::vector<uint32_t> groups = EntryGroups();
  std::vector<Use> uses;
  uint32_t place = 0;
  for (const uint32_t i : artifact_order_) {
    const Artifact& artifact = contents_.artifacts[i];
    const uint32_t entry = entry_rows_[artifact.entry];
    for (const StageBlob& code : artifact.code) {
      uses.push_back({groups[entry], code.stage, entry, place, code.digest});
    }
    uses.push_back({groups[entry], kNone, entry, place++, artifact.metadata});
  }
  std::stable_sort(uses.begin(), uses.end(), [](const Use& a, const Use& b) {
    return std::tie(a.group, a.stage, a.entry, a.place) <
           std::tie(b.group, b.stage, b.entry, b.place);
  });
  for (const uint32_t row : row_order_) {
    for (const Digest& digest : contents_.rows[row].refs) {
      // Content of cache rows belongs to no artifact and comes last.
      uses.push_back({kNone, kNone, kNone, place, digest});
    }
  }
  uint32_t family = 0;
  std::pair<uint32_t, uint32_t> last(0, 0);  // group and stage
  for (const Use& use : uses) {
    const std::pair<uint32_t, uint32_t> now(use.group, use.stage);
    // The family is counted before duplicates are dropped, so a family may be empty; its number has
    // no meaning but being another one.
    family += std::exchange(last, now) == now ? 0 : 1;
    if (blobs_.emplace(use.digest.id, static_cast<uint32_t>(index_.blobs.size())).second) {
      index_.blobs.push_back({.id = use.digest.id,
                              .raw_size = static_cast<uint32_t>(use.digest.size),
                              .block = kNone});
      index_.uses.push_back({.family = family, .entry = use.entry, .stage = use.stage});
    }
  }
}

// The first row of the artifact's code, which artifacts with the same one share.
uint32_t Indexer::CodeRows(const Artifact& artifact) {
  std::vector<std::pair<uint32_t, uint32_t>> code;  // stage, blob
  for (const StageBlob& stage : artifact.code) {
    code.emplace_back(stage.stage, Blob(stage.digest.id));
  }
  // Sorted by stage, so equal code is one run of rows whatever order its stages came in.
  std::sort(code.begin(), code.end());
  if (code.empty()) {
    return kNone;
  }
  const auto [found, is_new] = code_rows_.emplace(code, static_cast<uint32_t>(index_.code.size()));
  if (is_new) {
    for (const auto& [stage, blob] : code) {
      index_.code.push_back({.stage = stage, .blob = blob});
    }
  }
  return found->second;
}

// Layout hashes in the order in which artifacts first need them.
void Indexer::AddArtifacts() {
  std::map<Hash128, uint32_t> layouts;
  for (const uint32_t i : artifact_order_) {
    const Artifact& artifact = contents_.artifacts[i];
    const auto [layout, is_new] =
        layouts.emplace(artifact.layout_hash, static_cast<uint32_t>(index_.layouts.size()));
    if (is_new) {
      index_.layouts.push_back({.hash = artifact.layout_hash});
    }
    index_.artifacts.push_back({.live_key = artifact.live_key,
                                .layout = layout->second,
                                .pipeline = pipelines_.at(artifact.state_id),
                                .first_code = CodeRows(artifact),
                                .metadata = Blob(artifact.metadata.id),
                                .entry = entry_rows_[artifact.entry],
                                .code_count = static_cast<uint16_t>(artifact.code.size())});
  }
}

// Sorted by urgency, so the pipelines that are built before the first frame are the first rows.
void Indexer::AddPipelines() {
  for (uint32_t row = 0; row < artifact_order_.size(); ++row) {
    const Artifact& artifact = contents_.artifacts[artifact_order_[row]];
    const uint32_t warm = artifact.warm_rank.value_or(kNone);
    const auto [found, is_new] =
        pipelines_.emplace(artifact.state_id, static_cast<uint32_t>(index_.pipelines.size()));
    if (is_new) {
      index_.pipelines.push_back(
          {.state_id = artifact.state_id, .artifact = row, .warm_rank = warm});
    } else {
      // Artifacts of one state share a pipeline, which is as urgent as the most urgent of them.
      uint32_t& rank = index_.pipelines[found->second].warm_rank;
      rank = std::min(rank, warm);
    }
  }
  std::stable_sort(index_.pipelines.begin(), index_.pipelines.end(),
                   [](const PipelineRow& a, const PipelineRow& b) {
                     return std::tie(a.warm_rank, a.artifact) < std::tie(b.warm_rank, b.artifact);
                   });
  // Sorting moved the rows, and artifacts refer to where they are now.
  for (uint32_t row = 0; row < index_.pipelines.size(); ++row) {
    pipelines_[index_.pipelines[row].state_id] = row;
  }
}

// By name; rows of warm pipelines refer to them by number.
void Indexer::AddPasses() {
  for (const uint32_t i : Order(contents_.passes, [](const Pass& pass) { return pass.name; })) {
    const Pass& pass = contents_.passes[i];
    PassRow row{.name = String(pass.name),
                .view_mask = pass.view_mask,
                .samples = pass.samples,
                .color_count = static_cast<uint16_t>(pass.color_formats.size()),
                .color_formats = {},
                .depth_format = pass.depth_format};
    std::copy(pass.color_formats.begin(), pass.color_formats.end(), row.color_formats.begin());
    pass_rows_.emplace(pass.name, static_cast<uint32_t>(index_.passes.size()));
    index_.passes.push_back(row);
  }
}

void Indexer::AddWarm() {
  // Whoever asks for warm pipelines names artifacts; rows name the pipelines that those make.
  std::map<Hash128, Hash128> states;  // live key -> state id
  for (const Artifact& artifact : contents_.artifacts) {
    states.emplace(artifact.live_key, artifact.state_id);
  }
  const auto row_of = [&](const Warm& warm) {
    // Rows are compared by what they say, so references are resolved before sorting.
    return WarmRow{.pipeline = pipelines_.at(states.at(warm.live_key)),
                   .pass = warm.pass.empty() ? kNone : pass_rows_.at(warm.pass),
                   .hints = 0,
                   .priority = warm.priority,
                   .lane = warm.lane,
                   .creation_us = warm.creation_us,
                   .first_use_us = warm.first_use_us};
  };
  const auto hint_key = [](const ImageHint& hint) {
    return std::tuple(hint.set, hint.binding, hint.sampler_class, hint.format);
  };
  // By what a row will say, with every field, so that equal contents in another order give equal
  // bytes.
  const auto order = Order(contents_.warm, [&](const Warm& warm) {
    const WarmRow row = row_of(warm);
    std::vector<decltype(hint_key(ImageHint{}))> hints;
    for (const ImageHint& hint : warm.hints) {
      hints.push_back(hint_key(hint));
    }
    return std::tuple(row.lane, row.priority, row.pipeline, row.pass, row.creation_us,
                      row.first_use_us, hints);
  });
  for (const uint32_t i : order) {
    const Warm& warm = contents_.warm[i];
    WarmRow row = row_of(warm);
    // Where the hints begin, and how many they are.
    row.hints = static_cast<uint32_t>(index_.hints.size() << 8 | warm.hints.size());
    for (const ImageHint& hint : warm.hints) {
      index_.hints.push_back({.set = hint.set,
                              .binding = hint.binding,
                              .sampler_class = hint.sampler_class,
                              .format = hint.format});
    }
    index_.warm.push_back(row);
  }
}

void Indexer::AddCacheRows() {
  for (const uint32_t i : row_order_) {
    const ExportRow& row = contents_.rows[i];
    index_.cache_rows.push_back({.key = row.key.id,
                                 .level = static_cast<uint32_t>(row.key.level),
                                 .space = row.key.space,
                                 .offset = index_.cache_values.size(),
                                 .size = static_cast<uint32_t>(row.value.size())});
    Append(index_.cache_values, row.value);
  }
}

}  // namespace

Result<Index> MakeIndex(const Contents& contents) { return Indexer(contents).Make(); }

}  // namespace kiln::pack
