// SPDX-License-Identifier: MIT
// What is wrong with a program in its variants, in steps: first the variant that somebody looks at,
// then the space of the manifest, some variants at a time, so that an editor is answered in
// between. In the end each message has the condition under which it comes.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "client/lsp/analysis/program.h"
#include "compiler/base/clock.h"
#include "compiler/diag/diagnostic.h"
#include "compiler/driver/failure_condition.h"
#include "compiler/driver/variant_assembler.h"
#include "compiler/resolve/values/options.h"
#include "server/project/space.h"

namespace kiln::lsp {

// One message of the compiler, and in which variants it comes.
struct VariantMessage {
  Diagnostic diagnostic;
  uint64_t failing = 0;   // of `tried`; 0: only in the variant of interest so far
  uint64_t tried = 0;     // 0: the space has not been looked at
  std::string condition;  // empty: in all, or nothing short tells
};

class SpaceCheck {
 public:
  // More variants than this are not tried: then the counts are of those that were.
  static constexpr size_t kMaxVariants = 4096;
  // What an assembler may keep before it begins anew.
  static constexpr uint64_t kMaxAssembler = uint64_t{24} << 20;

  // `interest` is the variant of VariantOfInterest. Requires: program->linked.
  SpaceCheck(std::shared_ptr<const LinkedSources> program,
             std::vector<resolve::OptionSetting> interest);
  ~SpaceCheck();

  const LinkedSources& program() const { return *program_; }

  // Builds the variant of interest: what can be said at once.
  void CheckInterest();
  // Goes on for about `budget`; true when all that will be tried was. `clock` outlives the call.
  bool Step(Duration budget, Clock& clock);
  bool done() const { return done_; }
  size_t bytes() const;  // roughly, of memory, but for the program

  // What is known so far, in the order of the compiler; FindUnused included.
  std::vector<VariantMessage> Messages() const;
  // What is wrong with the options, axes and conditions of the manifest; their module is the number
  // of the condition (exclusions, then requirements), or none.
  const std::vector<Diagnostic>& space_diagnostics() const { return space_diagnostics_; }

 private:
  struct Row {
    Diagnostic diagnostic;
    bool of_interest = false;
    std::vector<bool> variants;  // by number of the point
  };

  void OpenSpace();
  void Build(const std::vector<resolve::OptionSetting>& settings, std::optional<size_t> point);
  void NotePoint(const std::vector<resolve::OptionSetting>& point);

  const std::shared_ptr<const LinkedSources> program_;
  const std::vector<resolve::OptionSetting> interest_;
  std::unique_ptr<driver::VariantAssembler> assembler_;
  std::vector<Diagnostic> unused_;
  std::vector<Row> rows_;
  std::optional<project::Space> space_;
  std::vector<Diagnostic> space_diagnostics_;
  std::vector<resolve::OptionSetting> fixed_;
  uint64_t next_ = 0;         // rank to go on from
  size_t next_explicit_ = 0;  // explicit variant to go on from
  driver::TriedVariants tried_;
  size_t points_ = 0;
  bool opened_ = false;
  bool done_ = false;
};

}  // namespace kiln::lsp
