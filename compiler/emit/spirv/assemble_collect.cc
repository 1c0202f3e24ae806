// SPDX-License-Identifier: MIT
// First two steps of assembling: what is live, and which number it has.
#include <algorithm>

#include "compiler/base/check.h"
#include "compiler/emit/spirv/assemble.h"

namespace kiln::spirv {

const DeclVersion& Assembler::VersionOf(const ir::FunctionRef& function) const {
  const DeclVersion* version = table_.Find(function.signature);
  KILN_CHECK(version != nullptr, "function {} was not lowered", function.function);
  return *version;
}

const Piece& Assembler::PieceOf(const ir::SegmentRef& segment) const {
  const PieceId piece = table_.Find(segment.closed);
  KILN_CHECK(piece.valid(), "segment {} was not lowered", segment.segment);
  return store_[piece];
}

void Assembler::Unite(const Piece& piece, Bits& bits) const {
  const std::span<const uint64_t> more = store_.Globals(piece);
  for (size_t i = 0; i < more.size(); ++i) {
    bits[i] |= more[i];
  }
}

void Assembler::Collect(const ir::ClosedVariant& variant, EntryChoice choice) {
  functions_.clear();
  runs_.clear();
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
    CollectVariables(entries_[i]);
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
  for (const ir::FunctionRef& function : ref.functions) {
    const DeclVersion& version = VersionOf(function);
    if (entry_count_ > 1 && IsShared(function, version.function)) {
      Reach(function, entry.live);
    } else {
      AddFunction(function, version, entry.live);
    }
  }
  entry.function_count = static_cast<uint32_t>(functions_.size()) - entry.first_function;
}

// A function that depends on its stage has a version for each; others are written once.
bool Assembler::IsShared(const ir::FunctionRef& ref, SymbolId symbol) const {
  return !ref.stage_sensitive && std::ranges::any_of(functions_, [&](const Function& known) {
    return known.version->function == symbol;
  });
}

void Assembler::AddFunction(const ir::FunctionRef& ref, const DeclVersion& version, Bits& live) {
  const Piece& head = store_[version.head];
  functions_.push_back({.ref = &ref,
                        .version = &version,
                        .head = {&head, 0},
                        .first_run = static_cast<uint32_t>(runs_.size())});
  word_bound_ += head.word_count + kFunctionTail;
  Unite(head, live);
  for (const ir::SegmentRef& segment : ref.segments) {
    const Piece& piece = PieceOf(segment);
    const bool is_body = &segment == &ref.segments.front();
    KILN_CHECK(is_body || piece.end != End::kTerminated,
               "control must go on past a hole: segment {}", segment.segment);
    runs_.push_back({&piece, 0});
    Unite(piece, live);
    word_bound_ += piece.word_count;
    needs_ |= piece.needs;
    has_flows_ |= !piece.flows.empty();
  }
}

void Assembler::Reach(const ir::FunctionRef& function, Bits& bits) const {
  Unite(store_[VersionOf(function).head], bits);
  for (const ir::SegmentRef& segment : function.segments) {
    Unite(PieceOf(segment), bits);
  }
}

// What the fragment stage reads must be declared by the vertex stage, written or not.
void Assembler::DeclareVaryings(const ir::ClosedVariant& variant) {
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
    for (const ir::FunctionRef& function : fragment->functions) {
      Reach(function, scratch_);
    }
    for (const PieceStore::Varying& varying : store_.varyings()) {
      if (Test(scratch_, varying.in)) {
        Set(entries_[i].live, varying.out);
      }
    }
  }
}

// Which version of its variables each declaration has in this variant. Most variants in a row have
// the same interface.
void Assembler::BindInterface(const ir::ClosedVariant& variant) {
  if (versions_.size() == store_.global_count() && interface_ == variant.interface) {
    return;
  }
  versions_.assign(store_.global_count(), PieceId{});
  interface_ = variant.interface;
  for (const ir::ClosedDecl* decl : variant.interface) {
    const DeclVersion* version = table_.Find(decl);
    KILN_CHECK(version != nullptr, "declaration {} was not lowered", decl->decl);
    for (const VariableVersion& variable : table_.Variables(*version)) {
      versions_[variable.variable.value] = variable.piece;
    }
  }
}

// Adds what the variables of an entry need, and the entry to the module.
void Assembler::CollectVariables(Entry& entry) {
  for (const PieceStore::Ordered& row : store_.order().subspan(store_.first_variable())) {
    if (Test(entry.live, row.global)) {
      const PieceId piece = PieceOf(row);
      KILN_CHECK(piece.valid(), "a mentioned variable is not live");
      Unite(store_[piece], entry.live);
    }
  }
  for (size_t i = 0; i < live_.size(); ++i) {
    live_[i] |= entry.live[i];
  }
}

void Assembler::Number() {
  next_id_ = 1;
  globals_.clear();
  first_declaration_ = 0;
  for (const PieceStore::Ordered& row : store_.order()) {
    if (!Test(live_, row.global)) {
      continue;
    }
    const Piece& piece = store_[PieceOf(row)];
    first_declaration_ += row.is_import ? 1 : 0;
    numbers_[row.symbol.value] = next_id_;
    globals_.push_back({&piece, next_id_});
    word_bound_ += piece.word_count;
    needs_ |= piece.needs;
    ++next_id_;
  }
  for (Function& function : functions_) {
    function.head.base = next_id_;
    next_id_ += function.head.piece->own_ids;
    for (size_t i = 0; i < function.ref->segments.size(); ++i) {
      Run& run = runs_[function.first_run + i];
      run.base = next_id_;
      next_id_ += run.piece->own_ids;
    }
  }
  for (uint32_t i = 0; i < entry_count_; ++i) {
    KILN_CHECK(entries_[i].function_count > 0, "an entry function serves one entry");
    entries_[i].main = functions_[entries_[i].first_function].head.base;
  }
}

// --- non-uniform images --------------------------------------------------------------------------

bool Assembler::PropagateFrom(const Piece& piece) {
  bool changed = false;
  for (const Flow& flow : store_.Flows(piece)) {
    if (flow.source.valid() && non_uniform_[flow.source.value] == 0) {
      continue;
    }
    for (const Function& function : functions_) {
      if (function.version->function == flow.callee) {
        uint8_t& flag = non_uniform_[table_.Parameters(*function.version)[flow.argument].value];
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
    for (const Run& run : runs_) {
      changed |= PropagateFrom(*run.piece);
    }
  }
}

}  // namespace kiln::spirv
