// SPDX-License-Identifier: MIT
#include "compiler/resolve/specialise/specialise_settings.h"

#include <algorithm>
#include <string>
#include <utility>

#include "compiler/base/check.h"
#include "compiler/base/flat_map.h"
#include "compiler/base/text/closest_name.h"
#include "compiler/ir/settings.h"

namespace kiln::resolve {
namespace {

// Stencil masks and references have eight bits.
constexpr uint32_t kByteLimit = 255;

// Settings of one byte and sizes are numbers without a sign.
ir::ValueKind ExpectedKind(ir::SettingType type) {
  switch (type) {
    case ir::SettingType::kFlag:
      return ir::ValueKind::kFlag;
    case ir::SettingType::kByte:
    case ir::SettingType::kSize:
      return ir::ValueKind::kUint;
    case ir::SettingType::kFloat:
      return ir::ValueKind::kFloat;
    case ir::SettingType::kString:
      return ir::ValueKind::kString;
  }
  KILN_UNREACHABLE();
}

// 'a', 'b', 'c': for a note that lists what there is.
std::string JoinQuoted(std::span<const std::string_view> words) {
  std::string text;
  for (const std::string_view word : words) {
    text += text.empty() ? "'" : ", '";
    text += word;
    text += '\'';
  }
  return text;
}

// Settings in the order of their declarations, each checked by its row of settings.def. What is
// wrong with one says nothing about the others.
class SettingSpecialiser {
 public:
  SettingSpecialiser(const Program& program, std::span<const EntryPoint> entries,
                     uint32_t color_outputs, VariantEvaluator& answers,
                     std::vector<Diagnostic>& diagnostics)
      : program_(program),
        entries_(entries),
        color_outputs_(color_outputs),
        answers_(answers),
        diagnostics_(diagnostics) {}

  // Settings of the program come first and those of entry points behind them, so an entry point
  // overrides what the program says.
  std::vector<ir::SpecialisedSetting> Run() {
    for (const ir::DeclId id : program_.settings()) {
      if (!OwnerOf(id).valid()) {
        Close(id);
      }
    }
    CloseOwned();
    return std::move(specialised_);
  }

 private:
  // The function that a setting is of, as it is declared; invalid: of the program.
  // Settings of an entry point come from attributes of the language, such as the size of a
  // workgroup.
  ir::DeclId OwnerOf(ir::DeclId id) const {
    const uint32_t m = program_.ModuleOf(id);
    const uint32_t owner = program_.Get(id).aux;
    // In a module of RPL the same word is the number of a block.
    return program_.module(m).header.typed != 0 && owner != ir::kNoRow
               ? ir::DeclId{program_.bases(m).decl + owner}
               : ir::DeclId{};
  }

  // Those of entry points that are chosen, in stage order, so that later stages win.
  void CloseOwned() {
    std::vector<EntryPoint> entries(entries_.begin(), entries_.end());
    // Stable, although stages differ: a request may be wrong and name one twice.
    std::ranges::stable_sort(entries, {}, &EntryPoint::stage);
    for (const EntryPoint& entry : entries) {
      for (const ir::DeclId id : program_.settings()) {
        if (const ir::DeclId owner = OwnerOf(id); owner.valid() && IsChosen(owner, entry)) {
          Close(id);
        }
      }
    }
  }

  // The name of an entry point may be that of several functions; the setting belongs to the one
  // that this variant has.
  bool IsChosen(ir::DeclId owner, const EntryPoint& entry) {
    const NameId name = program_.NameOf(owner);
    if (program_.Text(name) != entry.function) {
      return false;
    }
    const NameResolution answer = answers_.Function(name);
    return answer.kind == NameResolution::Kind::kDecl && answer.decl() == owner;
  }

  // A typed module writes the block into the flags, plus one; RPL has it in `aux`.
  static uint32_t BlockOf(const ir::Decl& decl, bool typed) {
    return !typed ? decl.aux : decl.flags == 0 ? ir::kNoBlock : decl.flags - 1U;
  }

  // One setting. Nothing is kept of one that has an error.
  void Close(ir::DeclId id) {
    const uint32_t m = program_.ModuleOf(id);
    const ir::Decl& decl = program_.Get(id);
    const ir::DeclSpans spans = program_.SpansOf(id);
    // A condition that failed was told, and its setting counts as not there.
    if (decl.condition != ir::kTrue &&
        !answers_
             .CheckCondition(program_.Wide(m, decl.condition), program_.At(m, spans.condition), {},
                             diagnostics_)
             .value_or(false)) {
      return;
    }
    const uint32_t block = BlockOf(decl, program_.module(m).header.typed != 0);
    const Location where = program_.At(m, spans.value);
    const Value value =
        answers_.Check(program_.Wide(m, ir::CexprId{decl.body}), where, {}, diagnostics_);
    const std::string_view name = program_.Text(program_.NameOf(id));
    const ir::SettingFacts* facts = ir::FindSetting(name);
    const Location at_name = program_.At(m, spans.name);
    // The value is checked before the name, because it was evaluated already and its messages are
    // the author's first concern.
    if (facts == nullptr) {
      diagnostics_.push_back(Make(Code::kRpl7001, at_name).With("name", name));
      return;
    }
    if (!CheckPipeline(*facts, at_name)) {
      return;
    }
    const bool good_block = CheckBlock(*facts, block, at_name);
    if (value.failed() || !CheckValue(*facts, value, where) || !good_block) {
      return;
    }
    NoteReplaced(*facts, block, at_name);
    specialised_.push_back({.name = std::string(name),
                            .block = block,
                            .kind = static_cast<uint16_t>(value.kind),
                            .origin = {.module = m, .span = spans.value}});
    if (value.kind == ir::ValueKind::kString) {
      specialised_.back().text = answers_.pool().Text(ir::StringId{value.bits});
    } else {
      specialised_.back().bits = value.bits;
    }
  }

  // Compute pipelines have settings of their own, and no others.
  bool CheckPipeline(const ir::SettingFacts& facts, const Location& where) {
    const bool compute = program_.pipeline() == ir::PipelineType::kCompute;
    // A pipeline is either of the two, so one comparison of flags decides.
    const bool fits = (facts.scope == ir::SettingScope::kCompute) == compute;
    if (!fits) {
      Diagnostic made =
          Make(compute ? Code::kRpl8104 : Code::kRpl7001, where).With("name", facts.name);
      if (compute) {
        made.arguments.emplace_back("kind", "setting");
      } else {
        std::move(made).Note(NoteKind::kAdvice,
                             {{"advice", "it is a setting of compute pipelines"}});
      }
      diagnostics_.push_back(std::move(made));
    }
    return fits;
  }

  // Settings of colour outputs have the number of an output, and no others do.
  bool CheckBlock(const ir::SettingFacts& facts, uint32_t block, const Location& where) {
    const bool needs_block = facts.scope == ir::SettingScope::kOutput;
    const bool has_block = block != ir::kNoBlock;
    if (needs_block != has_block) {
      diagnostics_.push_back(
          Make(needs_block ? Code::kRpl7002 : Code::kRpl7003, where).With("name", facts.name));
      return false;
    }
    if (has_block && block >= color_outputs_) {
      diagnostics_.push_back(Make(Code::kRpl7006, where)
                                 .With("block", block)
                                 .With("name", facts.name)
                                 .With("count", color_outputs_));
      return false;
    }
    return true;
  }

  // By the row of settings.def: the type, then what the type may hold.
  bool CheckValue(const ir::SettingFacts& facts, const Value& value, const Location& where) {
    const ir::ValueKind expected = ExpectedKind(facts.type);
    if (value.kind != expected) {
      diagnostics_.push_back(Make(Code::kRpl7004, where)
                                 .With("name", facts.name)
                                 .With("type", KindText(value.kind))
                                 .With("expected", KindText(expected)));
      return false;
    }
    if (facts.type == ir::SettingType::kByte && value.bits > kByteLimit) {
      diagnostics_.push_back(
          Make(Code::kRpl7007, where).With("name", facts.name).With("value", value.bits));
      return false;
    }
    // One side may take all invocations that the limit allows, except in z, where 64 is the most.
    const bool depth = facts.name == "workgroup_size_z";
    const uint32_t most =
        depth ? facts.limit : std::max<uint32_t>(facts.limit, program_.limits().workgroup);
    if (facts.type == ir::SettingType::kSize && (value.bits < 1 || value.bits > most)) {
      diagnostics_.push_back(Make(Code::kRpl8105, where)
                                 .With("name", facts.name)
                                 .With("value", value.bits)
                                 .With("limit", most));
      return false;
    }
    if (facts.type == ir::SettingType::kString) {
      const std::string_view text = answers_.pool().Text(ir::StringId{value.bits});
      if (std::ranges::find(facts.values, text) == facts.values.end()) {
        diagnostics_.push_back(
            Make(Code::kRpl7005, where)
                .With("name", facts.name)
                .With("value", text)
                .Note(NoteKind::kKnownValues, {{"values", JoinQuoted(facts.values)}}));
        const std::string_view meant = ClosestName(text).OfferAll(facts.values).best();
        if (!meant.empty()) {
          std::move(diagnostics_.back()).Note(NoteKind::kSimilarName, {{"name", meant}});
        }
        return false;
      }
    }
    return true;
  }

  // The last one wins (spec/rpl 9). A warning says which one it replaces, as two that agree are
  // rarely meant.
  void NoteReplaced(const ir::SettingFacts& facts, uint32_t block, const Location& where) {
    // Settings are known by their row and not by their spelling, and each block has its own.
    const auto row = static_cast<uint64_t>(&facts - ir::AllSettings().data());
    const auto [earlier, is_new] = seen_.Insert(row << 32 | block, where);
    if (!is_new) {
      diagnostics_.push_back(Make(Code::kRpl7008, where)
                                 .With("name", facts.name)
                                 .Label(LabelKind::kEarlierHere, *earlier));
      *earlier = where;
    }
  }

  const Program& program_;
  std::span<const EntryPoint> entries_;
  const uint32_t color_outputs_;
  VariantEvaluator& answers_;
  std::vector<Diagnostic>& diagnostics_;
  std::vector<ir::SpecialisedSetting> specialised_;
  FlatMap<uint64_t, Location> seen_;  // by row of settings.def and block
};

}  // namespace

std::vector<ir::SpecialisedSetting> SpecialiseSettings(const Program& program,
                                                       std::span<const EntryPoint> entries,
                                                       uint32_t color_outputs,
                                                       VariantEvaluator& answers,
                                                       std::vector<Diagnostic>& diagnostics) {
  return SettingSpecialiser(program, entries, color_outputs, answers, diagnostics).Run();
}

}  // namespace kiln::resolve
