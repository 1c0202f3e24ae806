// SPDX-License-Identifier: MIT
// Variants at the speed of copying: everything that one program, its entry points and one target
// need again for the next variant is kept, so that a variant is mostly put together from pieces.
// What comes out is what BuildDirect makes, byte for byte, in whatever order variants are asked
// for. Spec: architecture.md 10
//
// An assembler belongs to one thread. Nothing in it is ever given up; drop the whole of it.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "compiler/base/bitset.h"
#include "compiler/driver/request.h"

namespace kiln::driver {

// The code of one entry point, or of all of them if `stage` is empty.
struct StageWords {
  std::optional<ir::Stage> stage;
  std::span<const uint32_t> words;
};

// What one variant came to, in memory of the assembler.
struct VariantView {
  bool ok = false;  // false: the sources are wrong for this variant
  std::span<const StageWords> code{};
  std::span<const std::byte> metadata{};
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

  // Builds one variant. The result is valid until the next call. Requires: values of the program.
  const VariantView& Build(const resolve::OptionValues& values);

  // The same as a value.
  BuildResult BuildCopy(const resolve::OptionValues& values);

  size_t segment_versions() const;  // closed so far
  size_t decl_versions() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace kiln::driver
