// SPDX-License-Identifier: MIT
// Types, constants and variables are numbered and declared in one pass over their canonical order,
// whose operands have lower numbers: when a row is written, all it names are numbered. Declarations
// are copied in steps of four words from one table in which every word stands beside the symbol
// whose number is to be added (a symbol whose number is zero, for most), so the loop has no branch.
// Variables whose form depends on the variant are the exception.
#include "compiler/emit/spirv/module_numbering.h"

#include "compiler/base/check.h"
#include "compiler/base/threads/stop.h"
#include "compiler/emit/spirv/section_copy.h"

namespace kiln::spirv {
namespace {

constexpr uint32_t kDeclaredStep = 4;   // words of declarations written at once
constexpr uint32_t kVariableWords = 8;  // at most, with an initializer

}  // namespace

// What numbering needs of the globals, side by side. Their order changes only when one is added.
void ModuleNumbering::ReadOrder() {
  CheckStop();
  rows_.clear();
  declared_.clear();
  size_t words = 0;  // that all of them declare
  for (const CodeObjectStore::OrderedGlobal& ordered : store_.order()) {
    GlobalRow& row = rows_.emplace_back(
        GlobalRow{.global = ordered.global, .symbol = ordered.symbol, .object = ordered.object});
    // Its words are those of the version; the bound is enough for any.
    if (!row.object.valid()) {
      words += kVariableWords;
      continue;
    }
    const CodeObject& object = store_[row.object];
    const Section& declaration = object.part(Part::kDeclarations);
    row.declaration = {static_cast<uint32_t>(declared_.size()), declaration.words.count};
    for (uint32_t i = 0; i < declaration.words.count; ++i) {
      // An own id of a declaration is the global itself: its word becomes zero and gets the number
      // of its own symbol. Words that are no ids get that of nobody's symbol, which is zero.
      const bool own = store_.IsOwn(declaration, i);
      declared_.push_back({.word = own ? 0 : store_.WordsOf(declaration)[i],
                           .symbol = own ? row.symbol : kNoSymbol});
    }
    for (const SymbolRelocation& import : store_.ImportsOf(declaration)) {
      declared_[row.declaration.first + import.position].symbol = import.symbol;
    }
    words += declaration.words.count;
    row.word_count = object.word_count;
    row.is_import = ordered.is_import;
    row.needs = object.needs;
    // Most globals have neither names nor decorations, and numbering then never touches their code
    // object.
    row.has_more =
        !object.part(Part::kDebug).words.empty() || !object.part(Part::kAnnotations).words.empty();
  }
  declared_.resize(declared_.size() + kDeclaredStep);  // read past the last one
  declarations_.resize(words + kDeclaredStep + kCopySlack);
  // Two lists share the memory, each as long as there are globals: those with names from the front,
  // those with decorations from the middle.
  runs_.resize(2 * rows_.size());
}

// The declaration of a variable whose form depends on the variant.
const CodeObject& ModuleNumbering::DeclareVersion(const GlobalRow& row, uint32_t id,
                                                  uint32_t** out) {
  const CodeObject& object = store_[module_.versions[row.global.value]];
  const Section& declaration = object.part(Part::kDeclarations);
  KILN_CHECK(declaration.words.count <= kVariableWords, "a variable of {} words",
             declaration.words.count);
  *out = CopySection(store_, long_copy_, numbers_.data(), *out, declaration.words,
                     declaration.imports, id, 0);
  return object;
}

// Numbers what is live and writes its declarations, whose operands have lower numbers.
void ModuleNumbering::NumberGlobals() {
  CheckStop();
  // Members are copied to locals, since the compiler must assume that a write to `declarations_`
  // changes them.
  ModuleRun* next_named = runs_.data();
  ModuleRun* const decorated = next_named + rows_.size();
  ModuleRun* next_decorated = decorated;
  uint32_t* const numbers = numbers_.data();
  const uint64_t* const live = module_.live.data();
  const DeclaredWord* const declared = declared_.data();
  uint32_t* out = declarations_.data();
  uint32_t* definitions = out;
  uint32_t words = 0;
  target::Needs needs = 0;
  uint32_t id = 1;
  for (const GlobalRow& row : rows_) {
    if ((live[row.global.value / 64] >> (row.global.value % 64) & 1u) == 0) {
      continue;
    }
    // The number is there before the row is written, as the row names itself.
    numbers[row.symbol.value] = id;
    const CodeObject* object = row.has_more ? &store_[row.object] : nullptr;
    if (row.object.valid()) {
      const DeclaredWord* word = declared + row.declaration.first;
      uint32_t* const end = out + row.declaration.count;
      // The last step may write up to three words too many. The next declaration overwrites them,
      // and behind the last one there is slack.
      for (uint32_t* at = out; at < end; at += kDeclaredStep, word += kDeclaredStep) {
        at[0] = word[0].word + numbers[word[0].symbol.value];
        at[1] = word[1].word + numbers[word[1].symbol.value];
        at[2] = word[2].word + numbers[word[2].symbol.value];
        at[3] = word[3].word + numbers[word[3].symbol.value];
      }
      out = end;
      words += row.word_count;
      needs |= row.needs;
    } else {
      object = &DeclareVersion(row, id, &out);
      words += object->word_count;
      needs |= object->needs;
    }
    if (object != nullptr) {
      // Written in any case and kept only if the part has words: no branch to mispredict.
      const ModuleRun run{object, id};
      *next_named = run;
      next_named += object->part(Part::kDebug).words.empty() ? 0 : 1;
      *next_decorated = run;
      next_decorated += object->part(Part::kAnnotations).words.empty() ? 0 : 1;
    }
    // Imports of instructions are the first in the order, and a module has them before the memory
    // model; so where they end is where the last of them ended.
    definitions = row.is_import ? out : definitions;
    ++id;
  }
  module_.word_bound += words;
  module_.needs |= needs;
  live_globals_ = id - 1;
  next_id_ = id;
  named_ = {runs_.data(), next_named};
  decorated_ = {decorated, next_decorated};
  imports_ = {declarations_.data(), definitions};
  definitions_ = {definitions, out};
}

// Globals are numbered first, then each function gets one run of numbers, in the order in which it
// is written. The numbers of locals and labels lie inside of that run (spec/architecture 10.4).
void ModuleNumbering::Number() {
  numbers_.resize(store_.symbol_count());
  if (rows_.size() != store_.order().size()) {
    ReadOrder();
  }
  NumberGlobals();
  for (LiveFunction& function : module_.functions) {
    function.base = next_id_;
    next_id_ += function.image->own_ids;
  }
  for (uint32_t i = 0; i < module_.entry_count; ++i) {
    KILN_CHECK(module_.entries[i].function_count > 0, "an entry function serves one entry");
    module_.entries[i].main = module_.functions[module_.entries[i].first_function].base;
  }
  if (module_.has_flows) {
    PropagateNonUniform();
  }
}

// Marks what one code object hands on: an image that is non-uniform here makes the parameter of the
// callee non-uniform. Says whether anything is new.
bool ModuleNumbering::PropagateFrom(const CodeObject& object) {
  bool changed = false;
  for (const Flow& flow : store_.Flows(object)) {
    // The image is a parameter itself, and no caller that was looked at so far makes it
    // non-uniform.
    if (flow.source.valid() && non_uniform_[flow.source.value] == 0) {
      continue;
    }
    for (const LiveFunction& function : module_.functions) {
      const DeclVersion& version = function.image->version;
      if (version.function == flow.callee) {
        uint8_t& flag = non_uniform_[table_.Parameters(version)[flow.argument].value];
        changed |= flag == 0;
        flag = 1;
      }
    }
  }
  return changed;
}

// Parameters that are non-uniform for some caller. Few functions hand images on, and chains of them
// are short, so this repeats until nothing changes.
void ModuleNumbering::PropagateNonUniform() {
  non_uniform_.assign(numbers_.size(), 0);
  for (bool changed = true; changed;) {
    changed = false;
    for (const LiveFunction& function : module_.functions) {
      for (const CodeObjectId run : function.image->runs) {
        changed |= PropagateFrom(store_[run]);
      }
    }
  }
}

}  // namespace kiln::spirv
