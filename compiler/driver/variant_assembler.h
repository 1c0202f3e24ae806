// SPDX-License-Identifier: MIT
// Variants at the speed of copying: everything that one program, its entry points and one target
// need again for the next variant is kept, so that a variant is mostly put together from pieces.
// What comes out is what BuildDirect makes, byte for byte, in whatever order variants are asked
// for. Spec: architecture.md 10
//
// An assembler belongs to one thread. Nothing in it is ever given up; drop the whole of it.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "compiler/base/bitset.h"
#include "compiler/driver/request.h"

namespace kiln::driver {

// The code of one entry point, or of all of them if `stage` is empty.
struct StageWords {
  std::optional<ir::Stage> stage;
  Digest content;                   // of the words
  std::span<const uint32_t> words;  // empty if the module is known and only new ones were asked for
  bool is_new = false;              // this assembler never made such a module before
};

// Which modules of a variant are written: all, or those that are new to the assembler.
enum class Wanted : uint8_t { kAll, kNew };

// What one variant came to, in memory of the assembler.
struct VariantView {
  bool ok = false;      // false: the sources are wrong for this variant
  uint32_t result = 0;  // equal numbers: equal values of all options that were read
  std::span<const StageWords> code{};
  ByteView metadata{};
  Hash128 layout_hash{};
  Hash128 state_hash{};
  const Bitset* reads = nullptr;  // options that were consulted, by OptionId; also of failures
  std::span<const Diagnostic> diagnostics{};
};

class VariantAssembler {
 public:
  // `linked` must outlive the assembler; entry points and target are copied. Entry points may be
  // empty: metadata only.
  VariantAssembler(const LinkedProgram& linked, std::span<const resolve::EntryPoint> entries,
                   const target::Target& target);
  ~VariantAssembler();

  // Builds one variant. The view is valid until the next call. Requires: values of the program.
  const VariantView& Build(const resolve::OptionValues& values, Wanted wanted = Wanted::kAll);

  // The same as a value, with all modules.
  BuildResult BuildCopy(const resolve::OptionValues& values);

  // The number of the result if a variant with the same values of the options that matter was built
  // before; nothing is built.
  std::optional<uint32_t> Find(const resolve::OptionValues& values) const;

  struct Counts {
    size_t results = 0;
    size_t modules = 0;  // distinct ones
    size_t segment_versions = 0;
    size_t decl_versions = 0;
  };
  Counts counts() const;

  // Roughly the memory it holds, of what grows with the variants it has built.
  uint64_t bytes_used() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace kiln::driver
