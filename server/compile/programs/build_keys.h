// SPDX-License-Identifier: MIT
// A request and its parsed modules -> the keys of spec/cache 2.4 behind the modules. The bytes of
// keys are decided in cache/key.cc; here is only what goes in.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/base/digest.h"
#include "compiler/driver/request.h"
#include "compiler/driver/stages.h"
#include "server/compile/programs/program_pool.h"
#include "server/compile/request.h"

namespace kiln::compile {

// Names what links of these modules share (not stored). Any bit that changes an image changes it.
// `macros`: as of driver::LinkModules.
Hash128 LinkKey(std::span<const std::shared_ptr<const ParsedSource>> sources,
                std::span<const std::string> paths, const driver::MacrosOfProgram* macros,
                ir::PipelineType pipeline);

// The pairs of a target that are part of its results (spec/cache 2.4.1), sorted by name.
std::vector<std::pair<std::string, std::string>> TargetPairs(const NamedTarget& target);

// Entry points must be in stage order. `limits`: LimitsIdOf those that the sources were parsed
// under.
Hash128 EntryIdOf(std::span<const std::shared_ptr<const ParsedSource>> sources,
                  const ProgramRequest& program, const driver::MacrosOfProgram* macros,
                  const NamedTarget& target, const Hash128& limits);

// Names programs that differ only in what their sources say (not stored).
Hash128 FamilyOf(const ProgramRequest& program, const NamedTarget& target);

Hash128 VariantKeyOf(const Hash128& entry, const resolve::Program& program,
                     const resolve::OptionValues& values);

// `live`: names, sorted. Nothing if one of them is no option of the program: they come from rows,
// and rows may be another program's.
std::optional<Hash128> LiveKeyOf(const Hash128& entry, const resolve::Program& program,
                                 const resolve::OptionValues& values,
                                 std::span<const std::string> live);

Hash128 SignatureKeyOf(const Hash128& entry, std::span<const driver::OptionRead> reads);

// The signature of a variant that reads the options of these names and no other, which a result
// with that mask did. Names as those of LiveKeyOf.
std::optional<Hash128> SignatureKeyOf(const Hash128& entry, const resolve::Program& program,
                                      const resolve::OptionValues& values,
                                      std::span<const std::string> live);

}  // namespace kiln::compile
