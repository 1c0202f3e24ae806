// SPDX-License-Identifier: MIT
// Pieces -> a module, as a linker does it: collect what is live, number it, copy words and add
// bases. Linear in the output, without recursion, and without allocation once warm.
// Spec: architecture.md 10.4, 10.8; rpl.md 11.1.
//
// Canonical ids, from 1: imports of instructions, types and constants, variables (piece_store.h);
// then one run per function head and segment, functions in order of first mention, segments in
// order of their holes. They depend on the closed variant, the target and nothing else.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "compiler/base/flat_map.h"
#include "compiler/emit/spirv/piece_table.h"
#include "compiler/ir/closed.h"
#include "compiler/layout/layout.h"

namespace kiln::spirv {

// Which module of a variant: that of one entry point, or one for all.
struct EntryChoice {
  uint32_t index = 0;  // into ClosedVariant::entries
  bool combined = false;
};
inline constexpr EntryChoice kCombined{0, true};

// One per thread; reads the table, keeps its own memory.
class Assembler {
 public:
  // `table` must outlive the assembler; it may grow between calls.
  explicit Assembler(const PieceTable& table) : table_(table), store_(table.store()) {}

  // The words are valid until the next call. Requires: everything the variant refers to is in the
  // table (Prepare), and the layout is that of the variant.
  std::span<const uint32_t> Assemble(const ir::ClosedVariant& variant, EntryChoice choice,
                                     const layout::Layout& layout);

  // What the last module needs: its capabilities and extensions.
  target::Needs needs() const { return needs_; }

 private:
  using Bits = std::vector<uint64_t>;  // by GlobalId

  static constexpr uint32_t kFunctionTail = 2;  // OpReturn or OpUnreachable, OpFunctionEnd

  // A segment, or the head of a function, that got a run of ids.
  struct Run {
    const Piece* piece = nullptr;
    uint32_t base = 0;
  };
  struct Function {
    const ir::FunctionRef* ref = nullptr;
    const DeclVersion* version = nullptr;
    Run head{};
    uint32_t first_run = 0;  // of its segments, in runs_
  };
  struct Entry {
    const ir::EntryRef* ref = nullptr;
    uint32_t first_function = 0;  // those first reached by it; a combined module shares the others
    uint32_t function_count = 0;
    uint32_t main = 0;  // first id of the entry function
    Bits live{};        // what it reaches
  };
  // A segment whose code is being written, and how far.
  struct Open {
    uint32_t segment = 0;  // index in FunctionRef::segments
    uint32_t hole = 0;     // next
    uint32_t word = 0, import = 0;
  };

  // --- assemble_collect.cc
  // ------------------------------------------------------------------------
  void Collect(const ir::ClosedVariant& variant, EntryChoice choice);
  void CollectEntry(const ir::EntryRef& ref);
  bool IsShared(const ir::FunctionRef& ref, SymbolId symbol) const;
  void AddFunction(const ir::FunctionRef& ref, const DeclVersion& version, Bits& live);
  void Reach(const ir::FunctionRef& function, Bits& bits) const;
  const DeclVersion& VersionOf(const ir::FunctionRef& function) const;
  const Piece& PieceOf(const ir::SegmentRef& segment) const;
  void Unite(const Piece& piece, Bits& bits) const;
  void DeclareVaryings(const ir::ClosedVariant& variant);
  void BindInterface(const ir::ClosedVariant& variant);
  void CollectVariables(Entry& entry);
  void Number();
  void PropagateNonUniform();
  bool PropagateFrom(const Piece& piece);
  PieceId PieceOf(const PieceStore::Ordered& row) const {
    return row.piece.valid() ? row.piece : versions_[row.global.value];
  }
  static bool Test(const Bits& bits, GlobalId id) {
    return (bits[id.value / 64] >> (id.value % 64) & 1u) != 0;
  }
  static void Set(Bits& bits, GlobalId id) {
    bits[id.value / 64] |= uint64_t{1} << (id.value % 64);
  }

  // --- assemble.cc
  // --------------------------------------------------------------------------------
  void WriteHead(const ir::ClosedVariant& variant);
  const std::vector<uint32_t>& PreambleOf(target::Needs needs);
  void WriteEntryPoint(const Entry& entry);
  void WriteModes(const Entry& entry, const ir::ClosedVariant& variant);
  void WriteDebug();
  void WriteAnnotations(const layout::Layout& layout);
  void WriteGlobals();
  void WriteEntry(const Entry& entry);
  void WriteFunction(const Function& function);
  void WriteCode(const Function& function);
  void WriteChunk(const Section& code, const Open& from, const Hole& to, uint32_t base);
  void WriteSection(const Section& section, uint32_t base);
  void FillSlots(const Run& run, uint32_t* words, const layout::Layout& layout);
  void Copy(Range<uint32_t> words, Range<Import> imports, uint32_t base, uint32_t position);
  void Put(uint32_t word) { *out_++ = word; }
  bool HasStageVariable(const Entry& entry, ir::StageVariable variable) const;

  const PieceTable& table_;
  const PieceStore& store_;

  // Of the module in progress; memory is kept.
  std::vector<Entry> entries_;
  uint32_t entry_count_ = 0;
  std::vector<Function> functions_;
  std::vector<Run> runs_;
  std::vector<Run> globals_;        // live ones in canonical order
  uint32_t first_declaration_ = 0;  // in globals_: behind the imports of instructions
  std::vector<uint32_t> numbers_;   // by SymbolId
  Bits live_;                       // union over the entries
  Bits scratch_;
  std::vector<PieceId> versions_;                 // of variables, by GlobalId
  std::vector<const ir::ClosedDecl*> interface_;  // what versions_ was made of
  std::vector<uint8_t> non_uniform_;              // parameters, by SymbolId
  std::vector<Open> open_;
  FlatMap<uint32_t, std::vector<uint32_t>> preambles_;  // by Needs
  target::Needs needs_ = 0;
  uint32_t next_id_ = 1;
  uint32_t word_bound_ = 0;
  bool has_flows_ = false;
  std::vector<uint32_t> words_;
  uint32_t* out_ = nullptr;
};

// The same with memory of its own, for tools and tests.
std::vector<uint32_t> Assemble(const ir::ClosedVariant& variant, EntryChoice choice,
                               const layout::Layout& layout, const PieceTable& table);

}  // namespace kiln::spirv
