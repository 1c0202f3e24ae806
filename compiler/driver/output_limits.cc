// SPDX-License-Identifier: MIT
#include "compiler/driver/output_limits.h"

#include <algorithm>
#include <string>

namespace kiln::driver {
namespace {

constexpr size_t kBoundWord = 3;  // of the header: ids are below it
// SPIR-V 1.6, 2.16 "Universal Limits"; and the length of an instruction has 16 bits.
constexpr uint32_t kMostVariables = 65'535;
constexpr uint32_t kMostEntryWords = 65'535;

// A message about a module that says what module it is.
Diagnostic AboutModule(const resolve::Program& program, const ir::SpecialisedProgram& variant,
                       spirv::EntryChoice choice, const std::string& form) {
  const ir::EntryRef& entry = variant.entries[choice.index];
  return Make(Code::kLim1001, program.NameLocation(entry.function))
      .With("what", choice.combined ? form + " of all entry points"
                                    : form + " of '" + std::string(entry.name) + "'");
}

}  // namespace

// An empty module is one of WGSL, which has no ids.
ModuleSize SizeOf(std::span<const uint32_t> words, const spirv::ModuleWidth& width) {
  // The header's bound is one above the largest id.
  return words.empty()
             ? ModuleSize{}
             : ModuleSize{
                   .ids = words[kBoundWord] - 1, .bytes = words.size_bytes(), .width = width};
}

// Asked of what was made and not of what was asked for: a few lines of source can grow without
// bound through aliases and calls, and only the result shows it.
// False if a limit is passed; what was made is then dropped by the caller.
bool CheckModule(const resolve::Program& program, const ir::SpecialisedProgram& variant,
                 spirv::EntryChoice choice, const ModuleSize& size,
                 std::vector<Diagnostic>& found) {
  const LanguageLimits& limits = program.limits();
  const bool ids_fit = size.ids <= limits.spirv_ids;
  const bool bytes_fit = size.bytes <= limits.spirv_bytes;
  const bool variables_fit = size.width.variables <= kMostVariables;
  const bool entry_fits = size.width.entry_words <= kMostEntryWords;
  if (ids_fit && bytes_fit && variables_fit && entry_fits) {
    return true;
  }
  const std::string form = size.ids == 0 ? "WGSL" : "SPIR-V";
  const Diagnostic message = AboutModule(program, variant, choice, form);
  // Several limits may be passed at once, and then all are told.
  const auto report = [&](std::string_view parts, uint32_t limit) {
    found.push_back(Diagnostic(message).With("parts", parts).With("limit", limit));
  };
  if (!ids_fit) {
    report("ids", limits.spirv_ids);
  }
  if (!bytes_fit) {
    report("bytes", limits.spirv_bytes);
  }
  if (!variables_fit) {
    report("variables of module scope", kMostVariables);
  }
  if (!entry_fits) {
    report("words in an entry point and the list of its variables", kMostEntryWords);
  }
  return false;
}

// The message is that of a module that was made and is too large: whether it is found out before
// or behind that is nothing to the author.
bool CheckCode(const resolve::Program& program, const ir::SpecialisedProgram& variant,
               std::span<const uint32_t> oversized, const target::Target& target,
               std::vector<Diagnostic>& found) {
  const std::string form = target.form == target::Form::kWgsl ? "WGSL" : "SPIR-V";
  const size_t count = target.combined ? std::min(oversized.size(), size_t{1}) : oversized.size();
  for (const uint32_t entry : oversized.first(count)) {
    const spirv::EntryChoice choice{.index = target.combined ? 0 : entry,
                                    .combined = target.combined};
    found.push_back(AboutModule(program, variant, choice, form)
                        .With("parts", "bytes")
                        .With("limit", program.limits().spirv_bytes));
  }
  return oversized.empty();
}

bool CheckMetadata(const resolve::Program& program, bool fits, std::vector<Diagnostic>& found) {
  if (!fits) {
    found.push_back(Make(Code::kLim1001, Location{})
                        .With("what", "metadata")
                        .With("parts", "bytes")
                        .With("limit", program.limits().metadata_bytes));
  }
  return fits;
}

}  // namespace kiln::driver
