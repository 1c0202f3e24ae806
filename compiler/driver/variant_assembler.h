// SPDX-License-Identifier: MIT
// Variants at the speed of copying: everything that one program, its entry points and one target
// need again for the next variant is kept, so that a variant is mostly put together from code
// objects. What comes out is what BuildDirect makes, byte for byte, in whatever order variants are
// asked for. See spec/architecture 10
//
// An assembler belongs to one thread. Nothing in it is ever given up; drop the whole of it.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/base/bitset.h"
#include "compiler/driver/request.h"

namespace kiln::driver {

// The code of one entry point, or of all of them if `stage` is empty.
struct StageWords {
  std::optional<ir::Stage> stage;
  Digest content;                   // of the words or the text; empty if it was not asked for
  std::span<const uint32_t> words;  // empty if the module is known and only new ones were asked for
  std::string_view text{};          // of WGSL, which has no words
  bool is_new = false;              // this assembler never made such a module before
};

// Which modules of a variant are written: all, or those that are new to the assembler.
enum class ModuleSelection : uint8_t { kAll, kNew };

// Whether modules get their digests. To hash a module takes longer than to put it together, so
// whoever wants diagnostics only leaves them out.
enum class ModuleDigests : uint8_t { kMade, kLeftOut };

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
  // The same, with what `former` has lowered and written: after an edit of the sources only what
  // the edit changed is lowered again. `former` is used up. Requires: former.CanServe(linked), and
  // equal entry points and target.
  VariantAssembler(const LinkedProgram& linked, std::span<const resolve::EntryPoint> entries,
                   const target::Target& target, VariantAssembler&& former);
  ~VariantAssembler();

  // Whether an assembler of `linked` can go on with what this one has: both declare the same
  // things.
  bool CanServe(const LinkedProgram& linked) const;

  // Builds one variant. The view is valid until the next call. Requires: values of the program.
  const VariantView& Build(const resolve::OptionValues& values,
                           ModuleSelection wanted = ModuleSelection::kAll,
                           ModuleDigests digests = ModuleDigests::kMade);

  // The same as a value, with digests. Modules that are not wanted have a digest and no words;
  // modules are known here by what they are made of, so those of former assemblers count as
  // written, too.
  BuildResult BuildCopy(const resolve::OptionValues& values,
                        ModuleSelection wanted = ModuleSelection::kAll);

  // Whether what these options lead to is known already. They are sorted by name.
  using IsKnown = std::function<bool(std::span<const OptionRead> reads)>;
  // The same unless it is known: the variant is specialised, which tells what it reads, and what is
  // known is not laid out, lowered, linked or written.
  std::optional<BuildResult> BuildUnless(const IsKnown& is_known,
                                         const resolve::OptionValues& values,
                                         ModuleSelection wanted = ModuleSelection::kAll);

  // The number of the result if a variant with the same values of the options that matter was built
  // before; nothing is built.
  std::optional<uint32_t> Find(const resolve::OptionValues& values) const;

  struct Counts {
    size_t results = 0;
    size_t modules = 0;  // distinct ones
    size_t region_versions = 0;
    size_t decl_versions = 0;
    size_t regions_lowered = 0;
    size_t modules_written = 0;  // as words, known ones too
  };
  Counts counts() const;

  // The function of every region that this assembler lowered, in order.
  std::span<const std::string> lowered() const;

  // Roughly the memory it holds, of what grows with the variants it has built.
  uint64_t bytes_used() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace kiln::driver
