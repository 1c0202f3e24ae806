// SPDX-License-Identifier: MIT
// Pieces -> a module, as a linker does it: collect what is live, number it, copy words and add
// bases. Linear in the output, without recursion, and without allocation once warm.
// See spec/architecture 10.4, 10.8; spec/rpl 11.1.
//
// Canonical ids, from 1: imports of instructions, types and constants, variables
// (code_object_store.h); then one run per function head and segment, functions in order of first
// mention, segments in order of their holes. They depend on the closed variant, the target and
// nothing else.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "compiler/base/flat_map.h"
#include "compiler/emit/spirv/code_object_table.h"
#include "compiler/emit/spirv/function_images.h"
#include "compiler/ir/specialised.h"
#include "compiler/layout/layout.h"

namespace kiln::spirv {

// Which module of a variant: that of one entry point, or one for all.
struct EntryChoice {
  uint32_t index = 0;  // into SpecialisedProgram::entries
  bool combined = false;
};
inline constexpr EntryChoice kCombined{0, true};

// One per thread; reads the table, keeps its own memory.
class Assembler {
 public:
  // `table` must outlive the assembler; it may grow between calls.
  explicit Assembler(const CodeObjectTable& table)
      : table_(table), store_(table.store()), images_(table), long_copy_(LongCopy()) {}

  // The words are valid until the next call for the same index. Requires: everything the variant
  // refers to is in the table (Prepare), and the layout is that of the variant.
  std::span<const uint32_t> Assemble(const ir::SpecialisedProgram& variant, EntryChoice choice,
                                     const layout::Layout& layout);

  // With CodeObjectTable::Forget: functions are put together anew. Not with Link.
  void Forget();

  size_t bytes_used() const;  // of what grows with the modules written

  // What the last module needs: its capabilities and extensions.
  target::Needs needs() const { return needs_; }

  // In two steps, so that a module that was written before need not be written again. Link collects
  // and names the module: equal numbers are equal words. Write gives the words of what was linked
  // last, whose arguments must still be there.
  struct ModuleNumber {
    uint32_t module = 0;  // dense, in order of meeting
    bool is_new = false;
  };
  ModuleNumber NumberModule(const ir::SpecialisedProgram& variant, EntryChoice choice,
                            const layout::Layout& layout);
  std::span<const uint32_t> Write(const ir::SpecialisedProgram& variant, EntryChoice choice,
                                  const layout::Layout& layout);

 private:
  using Bits = std::vector<uint64_t>;  // by GlobalId

  static constexpr std::string_view kWorkgroupSizes[] = {"workgroup_size_x", "workgroup_size_y",
                                                         "workgroup_size_z"};
  static constexpr uint32_t kFunctionTail = 2;  // OpReturn or OpUnreachable, OpFunctionEnd
  static constexpr uint32_t kNoModule = 0xffffffffu;
  static constexpr uint32_t kFewWords = 24;  // a long copy is a call

  // One word of a declaration: its value is that of the word and the number of the symbol.
  struct DeclaredWord {
    uint32_t word = 0;
    SymbolId symbol = kNoSymbol;
  };
  // A piece of module scope, or a segment, that got a run of ids.
  struct Run {
    const CodeObject* piece = nullptr;
    uint32_t base = 0;
  };
  struct Function {
    const FunctionImage* image = nullptr;
    uint32_t base = 0;
  };
  struct Entry {
    const ir::EntryRef* ref = nullptr;
    uint32_t first_function = 0;  // those first reached by it; a combined module shares the others
    uint32_t function_count = 0;
    uint32_t main = 0;  // first id of the entry function
    Bits live{};        // what it reaches
  };
  // A global in canonical order: what numbering and declaring it takes.
  struct GlobalRow {
    GlobalId global{};
    SymbolId symbol{};
    CodeObjectId piece{};  // invalid: that of the version
    Range<DeclaredWord> declaration{};
    uint32_t word_count = 0;
    target::Needs needs = 0;
    bool has_more = false;   // than a declaration: names, decorations
    bool is_import = false;  // of instructions
  };
  struct NumberedModule {
    Range<uint32_t> key{};
    uint32_t uses = 0;
    Range<uint32_t> words{};  // of kept_
  };
  // --- assemble_numbering.cc
  void Collect(const ir::SpecialisedProgram& variant, EntryChoice choice,
               const layout::Layout& layout);
  void AddToKey(const CodeObject& variable, const layout::Layout& layout);
  void CollectEntry(const ir::EntryRef& ref);
  bool IsShared(const FunctionImage& image) const;
  void AddFunction(const FunctionImage& image, Bits& live);
  void Unite(std::span<const uint64_t> more, Bits& bits) const;
  void DeclareVaryings(const ir::SpecialisedProgram& variant);
  void BindInterface(const ir::SpecialisedProgram& variant);
  void CollectVariables(Entry& entry, const layout::Layout& layout);
  void ReadOrder();
  void Number();
  void NumberGlobals();
  const CodeObject& DeclareVersion(const GlobalRow& row, uint32_t id);
  void PropagateNonUniform();
  bool PropagateFrom(const CodeObject& piece);
  CodeObjectId PieceOf(const CodeObjectStore::OrderedGlobal& row) const {
    return row.piece.valid() ? row.piece : versions_[row.global.value];
  }
  static bool Test(const Bits& bits, GlobalId id) {
    return (bits[id.value / 64] >> (id.value % 64) & 1u) != 0;
  }
  static void Set(Bits& bits, GlobalId id) {
    bits[id.value / 64] |= uint64_t{1} << (id.value % 64);
  }

  // --- assemble.cc
  template <class Visit>
  void ForRuns(const Function& function, Visit visit) const;
  void WriteHead(const ir::SpecialisedProgram& variant);
  const std::vector<uint32_t>& PreambleOf(target::Needs needs);
  void WriteEntryPoint(const Entry& entry);
  void WriteModes(const Entry& entry, const ir::SpecialisedProgram& variant);
  void WriteDebug();
  void WriteAnnotations(const layout::Layout& layout);
  void WriteEntry(const Entry& entry);
  void WriteFunction(const Function& function);
  void WriteSection(const Section& section, uint32_t base);
  void FillSlots(const Run& run, uint32_t* words, const layout::Layout& layout);
  static uint32_t NumberOf(const LayoutRelocation& slot, const layout::Layout& layout);
  static uint32_t WorkgroupSize(const ir::SpecialisedProgram& variant, std::string_view axis);
  std::span<const uint32_t> Recall(const NumberedModule& module, uint32_t index);
  void Keep(NumberedModule& module, std::span<const uint32_t> words);
  uint32_t* WordsOf(uint32_t index, uint32_t count);
  void PutAll(std::span<const uint32_t> words);
  void WriteFlat(const Section& section, uint32_t base);
  void Copy(Range<uint32_t> words, Range<SymbolRelocation> imports, uint32_t base,
            uint32_t position);
  void Put(uint32_t word) { *out_++ = word; }
  bool HasStageVariable(const Entry& entry, ir::StageVariable variable) const;

  const CodeObjectTable& table_;
  const CodeObjectStore& store_;
  FunctionImages images_;
  const CopyWords long_copy_;

  // Of the module in progress; memory is kept.
  std::vector<Entry> entries_;
  uint32_t entry_count_ = 0;
  std::vector<Function> functions_;
  std::vector<GlobalRow> rows_;            // all globals of the store, in canonical order
  std::vector<DeclaredWord> declared_;     // of rows_
  std::vector<uint32_t> declarations_;     // words of live globals
  std::span<const uint32_t> imports_;      // of them: imports of instructions
  std::span<const uint32_t> definitions_;  // of them: the others
  uint32_t live_globals_ = 0;
  std::vector<Run> runs_;           // memory of the two lists
  std::span<const Run> named_;      // live globals with a debug part, in canonical order
  std::span<const Run> decorated_;  // the same with annotations
  std::vector<uint32_t> numbers_;   // by SymbolId
  Bits live_;                       // union over the entries
  Bits scratch_;
  std::vector<CodeObjectId> versions_;                  // of variables, by GlobalId
  std::vector<const ir::SpecialisedDecl*> interface_;   // what versions_ was made of
  std::vector<uint8_t> non_uniform_;                    // parameters, by SymbolId
  FlatMap<uint32_t, std::vector<uint32_t>> preambles_;  // by Needs
  // What decides the words of the module in progress: entries with their functions, the versions of
  // their variables and the numbers in those.
  std::vector<uint32_t> key_;
  std::vector<uint32_t> keys_;           // of all modules linked so far
  std::vector<NumberedModule> modules_;  // by number
  InternIndex module_index_;
  uint32_t linked_ = kNoModule;  // what Write is about
  std::vector<uint32_t> kept_;   // words of modules that are met again and again
  target::Needs needs_ = 0;
  uint32_t next_id_ = 1;
  uint32_t word_bound_ = 0;
  bool has_flows_ = false;
  std::vector<std::vector<uint32_t>> words_;  // by EntryChoice::index
  uint32_t* out_ = nullptr;
};

// Words and imports of a section, or of a part of it that begins at `position`. What follows in the
// output is written later, so the copy may be rounded up.
inline void Assembler::Copy(Range<uint32_t> words, Range<SymbolRelocation> imports, uint32_t base,
                            uint32_t position) {
  uint32_t* const start = out_;
  out_ = start + words.count;
  const uint32_t* const from = store_.words() + words.first;
  const uint32_t* const own = store_.own_masks() + words.first;
  if (words.count > kFewWords) {
    long_copy_(start, from, own, words.count, base);
  } else {
    CopyFew(start, from, own, words.count, base);
  }
  const uint32_t* const numbers = numbers_.data();
  const SymbolRelocation* const first = store_.imports() + imports.first;
#pragma GCC unroll 4
  for (const SymbolRelocation* i = first; i != first + imports.count; ++i) {
    start[i->position - position] = numbers[i->symbol.value];
  }
}

// The same with memory of its own, for tools and tests.
std::vector<uint32_t> Assemble(const ir::SpecialisedProgram& variant, EntryChoice choice,
                               const layout::Layout& layout, const CodeObjectTable& table);

}  // namespace kiln::spirv
