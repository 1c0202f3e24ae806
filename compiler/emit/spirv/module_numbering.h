// SPDX-License-Identifier: MIT
// Second step of assembling: which number everything live has, and the words of the declarations of
// module scope, which fall off along the way.
//
// Canonical ids, from 1: imports of instructions, types and constants, variables
// (code_object_store.h); then one run per function head and region, functions in order of first
// mention, regions in order of their insertion points. They depend on the specialised variant, the
// target and nothing else.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "compiler/emit/spirv/code_object_table.h"
#include "compiler/emit/spirv/copy_words.h"
#include "compiler/emit/spirv/live_module.h"

namespace kiln::spirv {

// A code object of module scope, or of a region, that got a run of ids.
struct ModuleRun {
  const CodeObject* object = nullptr;
  uint32_t base = 0;
};

class ModuleNumbering {
 public:
  // Both must outlive the numbering.
  ModuleNumbering(const CodeObjectTable& table, LiveModule& module)
      : table_(table), store_(table.store()), module_(module), long_copy_(LongCopy()) {}
  ModuleNumbering(const ModuleNumbering&) = delete;
  ModuleNumbering& operator=(const ModuleNumbering&) = delete;

  // Of what was collected; completes the module.
  void Number();

  // --- results, until the next call
  std::span<const uint32_t> imports() const { return imports_; }  // of instructions, as words
  std::span<const uint32_t> definitions() const { return definitions_; }  // the other globals
  std::span<const ModuleRun> named() const { return named_; }  // live globals with a debug part
  std::span<const ModuleRun> decorated() const { return decorated_; }  // the same with annotations
  // By SymbolId; the writer adds those of functions and of names inside of them.
  uint32_t* numbers() { return numbers_.data(); }
  uint32_t live_globals() const { return live_globals_; }
  uint32_t id_bound() const { return next_id_; }
  bool IsNonUniform(SymbolId parameter) const { return non_uniform_[parameter.value] != 0; }

 private:
  // One word of a declaration: its value is that of the word and the number of the symbol.
  struct DeclaredWord {
    uint32_t word = 0;
    SymbolId symbol = kNoSymbol;
  };
  // A global in canonical order: what numbering and declaring it takes.
  struct GlobalRow {
    GlobalId global{};
    SymbolId symbol{};
    CodeObjectId object{};  // invalid: that of the version
    Range<DeclaredWord> declaration{};
    uint32_t word_count = 0;
    target::Needs needs = 0;
    bool has_more = false;   // than a declaration: names, decorations
    bool is_import = false;  // of instructions
  };

  void ReadOrder();
  void NumberGlobals();
  const CodeObject& DeclareVersion(const GlobalRow& row, uint32_t id, uint32_t** out);
  bool PropagateFrom(const CodeObject& object);
  void PropagateNonUniform();

  const CodeObjectTable& table_;
  const CodeObjectStore& store_;
  LiveModule& module_;
  const CopyWords long_copy_;

  std::vector<GlobalRow> rows_;            // all globals of the store, in canonical order
  std::vector<DeclaredWord> declared_;     // of rows_
  std::vector<uint32_t> declarations_;     // words of live globals
  std::span<const uint32_t> imports_;      // of them: imports of instructions
  std::span<const uint32_t> definitions_;  // of them: the others
  uint32_t live_globals_ = 0;
  std::vector<ModuleRun> runs_;           // memory of the two lists
  std::span<const ModuleRun> named_;      // in canonical order
  std::span<const ModuleRun> decorated_;  // in canonical order
  std::vector<uint32_t> numbers_;         // by SymbolId
  std::vector<uint8_t> non_uniform_;      // parameters, by SymbolId
  uint32_t next_id_ = 1;
};

}  // namespace kiln::spirv
