// SPDX-License-Identifier: MIT
// First two steps of assembling: what is live, and which number it has.
#include <algorithm>

#include "compiler/base/check.h"
#include "compiler/base/stop.h"
#include "compiler/emit/spirv/assemble.h"

namespace kiln::spirv {
namespace {

constexpr uint32_t kDeclaredStep = 4;   // words of declarations written at once
constexpr uint32_t kVariableWords = 8;  // at most, with an initializer

}  // namespace

void Assembler::Unite(std::span<const uint64_t> more, Bits& bits) const {
  for (size_t i = 0; i < more.size(); ++i) {
    bits[i] |= more[i];
  }
}

void Assembler::Collect(const ir::SpecialisedProgram& variant, EntryChoice choice,
                        const layout::Layout& layout) {
  key_.clear();
  functions_.clear();
  entry_count_ = 0;
  needs_ = target::BitOf(target::Need::kShader);
  word_bound_ = 0;
  has_flows_ = false;
  numbers_.resize(store_.symbol_count());
  live_.assign((store_.global_count() + 63) / 64, 0);
  BindInterface(variant);
  if (choice.combined) {
    for (const ir::EntryRef& ref : variant.entries) {
      CollectEntry(ref);
    }
  } else {
    KILN_CHECK(choice.index < variant.entries.size(), "entry {}", choice.index);
    CollectEntry(variant.entries[choice.index]);
  }
  DeclareVaryings(variant);
  for (uint32_t i = 0; i < entry_count_; ++i) {
    CollectVariables(entries_[i], layout);
    if (entries_[i].ref->stage == ir::Stage::kCompute) {
      for (const std::string_view axis : kWorkgroupSizes) {
        key_.push_back(WorkgroupSize(variant, axis));
      }
    }
  }
}

void Assembler::CollectEntry(const ir::EntryRef& ref) {
  if (entry_count_ == entries_.size()) {
    entries_.emplace_back();
  }
  Entry& entry = entries_[entry_count_++];
  entry.ref = &ref;
  entry.first_function = static_cast<uint32_t>(functions_.size());
  entry.live.assign(live_.size(), 0);
  key_.push_back(static_cast<uint32_t>(ref.functions.size()));
  for (const ir::FunctionRef* function : ref.functions) {
    const FunctionImage& image = images_.Use(*function);
    key_.push_back(function->number);
    if (entry_count_ > 1 && IsShared(image)) {
      Unite(image.globals, entry.live);
    } else {
      AddFunction(image, entry.live);
    }
  }
  entry.function_count = static_cast<uint32_t>(functions_.size()) - entry.first_function;
}

// A function that depends on its stage has a version for each; others are written once.
bool Assembler::IsShared(const FunctionImage& image) const {
  return !image.ref->stage_sensitive && std::ranges::any_of(functions_, [&](const Function& known) {
    return known.image->version.function == image.version.function;
  });
}

void Assembler::AddFunction(const FunctionImage& image, Bits& live) {
  functions_.push_back({.image = &image});
  word_bound_ += image.word_count + kFunctionTail;
  Unite(image.globals, live);
  needs_ |= image.needs;
  has_flows_ |= image.has_flows;
}

// What the fragment stage reads must be declared by the vertex stage, written or not.
void Assembler::DeclareVaryings(const ir::SpecialisedProgram& variant) {
  const auto is = [](ir::Stage stage) {
    return [stage](const ir::EntryRef& ref) { return ref.stage == stage; };
  };
  const auto fragment = std::ranges::find_if(variant.entries, is(ir::Stage::kFragment));
  if (fragment == variant.entries.end()) {
    return;
  }
  for (uint32_t i = 0; i < entry_count_; ++i) {
    if (entries_[i].ref->stage != ir::Stage::kVertex) {
      continue;
    }
    scratch_.assign(live_.size(), 0);
    for (const ir::FunctionRef* function : fragment->functions) {
      Unite(images_.Of(*function).globals, scratch_);
    }
    for (const CodeObjectStore::Varying& varying : store_.varyings()) {
      if (Test(scratch_, varying.in)) {
        Set(entries_[i].live, varying.out);
      }
    }
  }
}

// Which version of its variables each declaration has in this variant. Most variants in a row have
// the same interface.
void Assembler::BindInterface(const ir::SpecialisedProgram& variant) {
  if (versions_.size() == store_.global_count() && interface_ == variant.interface) {
    return;
  }
  versions_.assign(store_.global_count(), CodeObjectId{});
  interface_ = variant.interface;
  for (const ir::SpecialisedDecl* decl : variant.interface) {
    const DeclVersion* version = table_.Find(decl);
    KILN_CHECK(version != nullptr, "declaration {} was not lowered", decl->decl);
    for (const VariableVersion& variable : table_.Variables(*version)) {
      versions_[variable.variable.value] = variable.piece;
    }
  }
}

void Assembler::AddToKey(const CodeObject& variable, const layout::Layout& layout) {
  for (const LayoutRelocation& slot : store_.Slots(variable)) {
    key_.push_back(NumberOf(slot, layout));
  }
}

// Adds what the variables of an entry need, and the entry to the module.
void Assembler::CollectVariables(Entry& entry, const layout::Layout& layout) {
  for (const CodeObjectStore::OrderedGlobal& row :
       store_.order().subspan(store_.first_variable())) {
    if (Test(entry.live, row.global)) {
      const CodeObjectId piece = PieceOf(row);
      KILN_CHECK(piece.valid(), "a mentioned variable is not live");
      Unite(store_.Globals(store_[piece]), entry.live);
      key_.push_back(piece.value);
      AddToKey(store_[piece], layout);
    }
  }
  for (size_t i = 0; i < live_.size(); ++i) {
    live_[i] |= entry.live[i];
  }
}

// What numbering needs of the globals, side by side. Their order changes only when one is added.
void Assembler::ReadOrder() {
  CheckStop();
  rows_.clear();
  declared_.clear();
  size_t words = 0;  // that all of them declare
  for (const CodeObjectStore::OrderedGlobal& ordered : store_.order()) {
    GlobalRow& row = rows_.emplace_back(
        GlobalRow{.global = ordered.global, .symbol = ordered.symbol, .piece = ordered.piece});
    if (!row.piece.valid()) {
      words += kVariableWords;
      continue;
    }
    const CodeObject& piece = store_[row.piece];
    const Section& declaration = piece.part(Part::kDeclarations);
    row.declaration = {static_cast<uint32_t>(declared_.size()), declaration.words.count};
    for (uint32_t i = 0; i < declaration.words.count; ++i) {
      const bool own = store_.IsOwn(declaration, i);
      declared_.push_back({.word = own ? 0 : store_.WordsOf(declaration)[i],
                           .symbol = own ? row.symbol : kNoSymbol});
    }
    for (const SymbolRelocation& import : store_.ImportsOf(declaration)) {
      declared_[row.declaration.first + import.position].symbol = import.symbol;
    }
    words += declaration.words.count;
    row.word_count = piece.word_count;
    row.is_import = ordered.is_import;
    row.needs = piece.needs;
    row.has_more =
        !piece.part(Part::kDebug).words.empty() || !piece.part(Part::kAnnotations).words.empty();
  }
  declared_.resize(declared_.size() + kDeclaredStep);  // read past the last one
  declarations_.resize(words + kDeclaredStep + kCopySlack);
  runs_.resize(2 * rows_.size());
}

// The declaration of a variable whose form depends on the variant.
const CodeObject& Assembler::DeclareVersion(const GlobalRow& row, uint32_t id) {
  const CodeObject& piece = store_[versions_[row.global.value]];
  const Section& declaration = piece.part(Part::kDeclarations);
  KILN_CHECK(declaration.words.count <= kVariableWords, "a variable of {} words",
             declaration.words.count);
  Copy(declaration.words, declaration.imports, id, 0);
  return piece;
}

// Numbers what is live and writes its declarations, whose operands have lower numbers.
void Assembler::NumberGlobals() {
  CheckStop();
  Run* next_named = runs_.data();
  Run* const decorated = next_named + rows_.size();
  Run* next_decorated = decorated;
  uint32_t* const numbers = numbers_.data();
  const uint64_t* const live = live_.data();
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
    numbers[row.symbol.value] = id;
    const CodeObject* piece = row.has_more ? &store_[row.piece] : nullptr;
    if (row.piece.valid()) {
      const DeclaredWord* word = declared + row.declaration.first;
      uint32_t* const end = out + row.declaration.count;
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
      out_ = out;
      piece = &DeclareVersion(row, id);
      out = out_;
      words += piece->word_count;
      needs |= piece->needs;
    }
    if (piece != nullptr) {
      const Run run{piece, id};
      *next_named = run;
      next_named += piece->part(Part::kDebug).words.empty() ? 0 : 1;
      *next_decorated = run;
      next_decorated += piece->part(Part::kAnnotations).words.empty() ? 0 : 1;
    }
    definitions = row.is_import ? out : definitions;
    ++id;
  }
  word_bound_ += words;
  needs_ |= needs;
  live_globals_ = id - 1;
  next_id_ = id;
  named_ = {runs_.data(), next_named};
  decorated_ = {decorated, next_decorated};
  imports_ = {declarations_.data(), definitions};
  definitions_ = {definitions, out};
}

void Assembler::Number() {
  if (rows_.size() != store_.order().size()) {
    ReadOrder();
  }
  NumberGlobals();
  for (Function& function : functions_) {
    function.base = next_id_;
    next_id_ += function.image->own_ids;
  }
  for (uint32_t i = 0; i < entry_count_; ++i) {
    KILN_CHECK(entries_[i].function_count > 0, "an entry function serves one entry");
    entries_[i].main = functions_[entries_[i].first_function].base;
  }
}

// --- non-uniform images --------------------------------------------------------------------------

bool Assembler::PropagateFrom(const CodeObject& piece) {
  bool changed = false;
  for (const Flow& flow : store_.Flows(piece)) {
    if (flow.source.valid() && non_uniform_[flow.source.value] == 0) {
      continue;
    }
    for (const Function& function : functions_) {
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
void Assembler::PropagateNonUniform() {
  non_uniform_.assign(numbers_.size(), 0);
  for (bool changed = true; changed;) {
    changed = false;
    for (const Function& function : functions_) {
      for (const CodeObjectId run : function.image->runs) {
        changed |= PropagateFrom(store_[run]);
      }
    }
  }
}

}  // namespace kiln::spirv
