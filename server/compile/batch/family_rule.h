// SPDX-License-Identifier: MIT
// The family rule: programs of one material have the same layout at the same global options, but
// for the pass set. Results go in as they are met; what comes out is the first difference of every
// program, with both declarations. See spec/daemon 6.7.2
//
// Threads: one at a time.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "compiler/artifact/metadata.h"
#include "compiler/base/digest.h"
#include "server/compile/cached_build.h"

namespace kiln::compile {

inline constexpr char kFamilyMismatch[] = "FAMILY_MISMATCH";

// One declaration of a set as one line; equal lines are equal layouts. Stages are left out: passes
// switch stages off.
struct SetLine {
  std::string name;  // of the declaration
  std::string text;
};
using SetLines = std::array<std::vector<SetLine>, artifact::kSetCount>;

SetLines SetLinesOf(const artifact::PipelineMetadata& metadata);

// The metadata of a result, from the outcome or the store. Errors: of the store; METADATA_INVALID.
Result<artifact::PipelineMetadata> MetadataOf(cache::BlobStore& store, const Outcome& outcome,
                                              const cache::Call& call);

class FamilyRule {
 public:
  // All programs whose request names this family; they outlive the object.
  FamilyRule(std::string family, std::vector<const PreparedProgram*> programs);

  // The layout of a result of `program` (an index of those given), whose axes are at `point`. The
  // difference to the first result of the same global options, unless this program has been told.
  std::optional<PlacedDiagnostic> Add(size_t program, std::span<const resolve::OptionSetting> point,
                                      const Hash128& layout_hash, SetLines lines);
  // Whether Add has nothing to say about a result: this program has been told, or a result of it
  // with the same layout and the same global options was added. Costs looking at the options.
  bool Knows(size_t program, std::span<const resolve::OptionSetting> point,
             const Hash128& layout_hash) const;

 private:
  struct First {
    size_t program = 0;
    std::shared_ptr<const SetLines> lines;
    std::set<std::pair<size_t, Hash128>> equal;  // programs and layout hashes with these lines
  };
  // A global option that all programs have.
  struct CommonOption {
    std::string name;
    std::vector<std::string> defaults;  // by program, as KeyOf writes values
  };

  std::string KeyOf(size_t program, std::span<const resolve::OptionSetting> point) const;
  PlacedDiagnostic Difference(size_t set, const First& first, size_t program,
                              const SetLines& lines) const;
  std::string Declaration(size_t program, const SetLine* line) const;

  const std::string family_;
  const std::vector<const PreparedProgram*> programs_;
  std::vector<CommonOption> common_;  // by name
  std::map<std::string, First> firsts_;
  std::set<size_t> told_;
};

}  // namespace kiln::compile
