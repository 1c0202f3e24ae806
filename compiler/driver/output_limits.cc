// SPDX-License-Identifier: MIT
#include "compiler/driver/output_limits.h"

#include <string>

namespace kiln::driver {
namespace {

constexpr size_t kBoundWord = 3;  // of the header: ids are below it

}  // namespace

// An empty module is one of WGSL, which has no ids.
ModuleSize SizeOf(std::span<const uint32_t> words) {
  // The header's bound is one above the largest id.
  return words.empty() ? ModuleSize{}
                       : ModuleSize{.ids = words[kBoundWord] - 1, .bytes = words.size_bytes()};
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
  if (ids_fit && bytes_fit) {
    return true;
  }
  const ir::EntryRef& entry = variant.entries[choice.index];
  const std::string form = size.ids == 0 ? "WGSL" : "SPIR-V";
  const std::string what = choice.combined ? form + " of all entry points"
                                           : form + " of '" + std::string(entry.name) + "'";
  // Both limits may be passed at once, and then both are told.
  const auto report = [&](std::string_view parts, uint32_t limit) {
    found.push_back(Make(Code::kLim1001, program.NameLocation(entry.function))
                        .With("what", what)
                        .With("parts", parts)
                        .With("limit", limit));
  };
  if (!ids_fit) {
    report("ids", limits.spirv_ids);
  }
  if (!bytes_fit) {
    report("bytes", limits.spirv_bytes);
  }
  return false;
}

bool CheckMetadata(const resolve::Program& program, size_t bytes, std::vector<Diagnostic>& found) {
  const uint32_t limit = program.limits().metadata_bytes;
  if (bytes > limit) {
    found.push_back(Make(Code::kLim1001, Location{})
                        .With("what", "metadata")
                        .With("parts", "bytes")
                        .With("limit", limit));
  }
  return bytes <= limit;
}

}  // namespace kiln::driver
