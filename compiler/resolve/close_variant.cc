// SPDX-License-Identifier: MIT
// The steps of rpl.md 8.1, one function each, and what is checked between them.
#include "compiler/resolve/close_variant.h"

#include <algorithm>
#include <utility>

#include "compiler/base/check.h"
#include "compiler/resolve/assigned.h"
#include "compiler/resolve/close_settings.h"
#include "compiler/resolve/kind_text.h"
#include "compiler/resolve/name_space.h"
#include "compiler/resolve/reach.h"

namespace kiln::resolve {
namespace {

constexpr uint32_t kAttributeLocations = 16;
constexpr uint32_t kStateLocations = 32;

bool HasStage(ir::PipelineType pipeline, ir::Stage stage) {
  return (pipeline == ir::PipelineType::kCompute) == (stage == ir::Stage::kCompute);
}

std::string_view ConditionText(ir::DeclKind kind) {
  switch (kind) {
    case ir::DeclKind::kContainer:
      return "the conditional of container";
    case ir::DeclKind::kBuffer:
      return "the conditional of buffer";
    case ir::DeclKind::kPushConstant:
      return "the conditional of push constant";
    case ir::DeclKind::kSampler:
      return "the conditional of sampler";
    case ir::DeclKind::kImage:
      return "the conditional of image";
    case ir::DeclKind::kConstant:
    case ir::DeclKind::kSetting:
    case ir::DeclKind::kStruct:
    case ir::DeclKind::kFunction:
    case ir::DeclKind::kWorkgroup:
      break;
  }
  KILN_UNREACHABLE();
}

class VariantCloser {
 public:
  VariantCloser(const Program& program, std::span<const EntryPoint> entries, Answers& answers,
                Units& units)
      : program_(program),
        entries_(entries),
        answers_(answers),
        units_(units),
        names_(program, diagnostics_),
        interface_reads_(program.option_count()),
        layout_reads_(program.option_count()),
        settings_reads_(program.option_count()),
        code_reads_(program.option_count()) {
    out_.pool = &answers.pool();
    out_.pipeline = program.pipeline();
  }

  Diagnosed<ir::ClosedVariant> Run() {
    answers_.BeginReads();
    CloseConstants();
    for (const ir::DeclId id : program_.interface()) {
      CloseInterface(id);
    }
    ListStructs();
    CheckLocations();
    answers_.BeginReads();
    out_.settings = CloseSettings(program_, color_outputs_, answers_, diagnostics_);
    settings_reads_ |= answers_.EndReads();
    CloseEntries();
    for (const ir::DeclId id : answers_.contested()) {
      names_.Add(id);
    }
    CheckFunctions();
    ListWorkgroup();
    ListSpecialization();
    out_.live_options = answers_.EndReads();
    ListOptions();

    std::vector<Diagnostic> found = answers_.TakeDiagnostics();
    diagnostics_.insert(diagnostics_.end(), std::make_move_iterator(found.begin()),
                        std::make_move_iterator(found.end()));
    SortAndMerge(diagnostics_);
    Diagnosed<ir::ClosedVariant> result;
    if (!HasErrors(diagnostics_)) {
      result.value = std::move(out_);
    }
    result.diagnostics = std::move(diagnostics_);
    return result;
  }

 private:
  void CloseConstants() {
    for (const ir::DeclId id : program_.constants()) {
      const ConstantState state = answers_.StateOf(id, &diagnostics_);
      if (state.kind == ConstantState::Kind::kActive) {
        names_.Add(id);
      }
    }
  }

  // --- step 3 ------------------------------------------------------------------------------------
  void CloseInterface(ir::DeclId id) {
    const ir::Decl& decl = program_.Get(id);
    const bool container = decl.kind == ir::DeclKind::kContainer;
    const bool state = container && decl.container() == ir::ContainerKind::kState;
    const bool output = container && decl.container() == ir::ContainerKind::kColorOutput;
    const Position position = {.global_only = !state && !output,
                               .what = ConditionText(decl.kind),
                               .name = program_.Text(program_.NameOf(id))};
    answers_.BeginReads();
    if (IsLive(id, decl, position)) {
      CloseLive(id, decl);
    }
    const Bitset reads = answers_.EndReads();
    interface_reads_ |= reads;
    if (state || output) {
      code_reads_ |= reads;
    } else {
      layout_reads_ |= reads;
    }
    if (output) {
      settings_reads_ |= reads;
    }
  }

  bool IsLive(ir::DeclId id, const ir::Decl& decl, const Position& position) {
    if (decl.condition == ir::kTrue) {
      return true;
    }
    const uint32_t m = program_.ModuleOf(id);
    return answers_
        .CheckCondition(program_.Wide(m, decl.condition),
                        program_.At(m, program_.SpansOf(id).condition), position, diagnostics_)
        .value_or(false);
  }

  void CloseLive(ir::DeclId id, const ir::Decl& decl) {
    names_.Add(id);
    const std::string_view name = program_.Text(program_.NameOf(id));
    if (decl.kind == ir::DeclKind::kContainer &&
        program_.pipeline() == ir::PipelineType::kCompute) {
      diagnostics_.push_back(Make(Code::kRpl8104, program_.NameLocation(id))
                                 .With("kind", DeclKindText(decl))
                                 .With("name", name));
      return;
    }
    if (decl.kind == ir::DeclKind::kPushConstant) {
      if (push_constant_.valid()) {
        diagnostics_.push_back(
            Make(Code::kRpl4054, program_.NameLocation(id))
                .With("name", name)
                .With("other", program_.Text(program_.NameOf(push_constant_)))
                .Label(LabelKind::kFirstHere, program_.NameLocation(push_constant_)));
        return;
      }
      push_constant_ = id;
    }
    const ir::ClosedDecl* closed = answers_.Decl(id);
    if (closed == nullptr) {
      return;
    }
    out_.interface.push_back(closed);
    if (decl.kind == ir::DeclKind::kContainer &&
        decl.container() == ir::ContainerKind::kColorOutput) {
      color_outputs_ += static_cast<uint32_t>(closed->members.size());
    }
  }

  // The structs of the interface, outer ones first.
  void ListStructs() {
    std::vector<ir::TypeId> pending;
    for (const ir::ClosedDecl* closed : out_.interface) {
      if (closed->kind == ir::DeclKind::kBuffer || closed->kind == ir::DeclKind::kPushConstant) {
        PushMembers(*closed, pending);
      }
      while (!pending.empty()) {
        const ir::ClosedDecl* held = StructOf(pending.back());
        pending.pop_back();
        if (held != nullptr && std::ranges::find(out_.structs, held) == out_.structs.end()) {
          out_.structs.push_back(held);
          PushMembers(*held, pending);
        }
      }
    }
  }

  static void PushMembers(const ir::ClosedDecl& closed, std::vector<ir::TypeId>& pending) {
    for (size_t i = closed.members.size(); i > 0; --i) {
      pending.push_back(closed.members[i - 1].type);
    }
  }

  // Null: the type holds no struct.
  const ir::ClosedDecl* StructOf(ir::TypeId type) {
    const ir::Pool& pool = answers_.pool();
    while (pool[type].kind == ir::TypeKind::kArray ||
           pool[type].kind == ir::TypeKind::kRuntimeArray) {
      type = ir::TypeId{pool[type].element};
    }
    if (pool[type].kind != ir::TypeKind::kStruct) {
      return nullptr;
    }
    return answers_.Decl(
        answers_.Struct(program_.FindName(pool.Text(pool.ShapeOf(type).name))).decl());
  }

  // One lint each, where the limit is passed.
  void CheckLocations() {
    uint32_t attributes = 0;
    uint32_t state = 0;
    const ir::ClosedDecl* attribute_limit = nullptr;
    const ir::ClosedDecl* state_limit = nullptr;
    for (const ir::ClosedDecl* closed : out_.interface) {
      if (closed->kind != ir::DeclKind::kContainer ||
          closed->container() == ir::ContainerKind::kColorOutput) {
        continue;
      }
      const bool is_state = closed->container() == ir::ContainerKind::kState;
      uint32_t& count = is_state ? state : attributes;
      for (const ir::ClosedMember& member : closed->members) {
        const ir::Type& type = answers_.pool()[member.type];
        count += type.kind == ir::TypeKind::kMatrix ? type.columns : 1;
      }
      const ir::ClosedDecl*& passed = is_state ? state_limit : attribute_limit;
      if (passed == nullptr && count > (is_state ? kStateLocations : kAttributeLocations)) {
        passed = closed;
      }
    }
    ReportLocations(attribute_limit, "attributes", attributes, kAttributeLocations);
    ReportLocations(state_limit, "state fields", state, kStateLocations);
  }

  void ReportLocations(const ir::ClosedDecl* where, std::string_view kind, uint32_t count,
                       uint32_t limit) {
    if (where != nullptr) {
      diagnostics_.push_back(Make(Code::kRpl4045, program_.NameLocation(where->decl))
                                 .With("kind", kind)
                                 .With("count", count)
                                 .With("limit", limit));
    }
  }

  // --- step 5 ------------------------------------------------------------------------------------
  void CloseEntries() {
    std::vector<ir::DeclId> functions;
    for (const EntryPoint& entry : entries_) {
      if (!CheckEntry(entry)) {
        continue;
      }
      answers_.BeginReads();
      const ir::DeclId function = FindEntry(entry);
      const Bitset reads = answers_.EndReads();
      if (function.valid()) {
        functions.push_back(function);
        ir::EntryRef& ref = out_.entries.emplace_back();
        ref.stage = entry.stage;
        ref.function = function;
        ref.name = program_.Text(program_.NameOf(function));
        ref.live_options = interface_reads_;
        ref.live_options |= reads;
      }
      code_reads_ |= reads;
    }
    Reach reach(program_, functions, answers_, units_, diagnostics_);
    for (ir::EntryRef& entry : out_.entries) {
      answers_.BeginReads();
      reach.Walk(entry);
      code_reads_ |= answers_.EndReads();
    }
    std::ranges::stable_sort(out_.entries, {}, &ir::EntryRef::stage);
    if (!reach.incomplete()) {
      CheckPosition();
      CheckState();
    }
  }

  bool CheckEntry(const EntryPoint& entry) {
    if (!HasStage(program_.pipeline(), entry.stage)) {
      diagnostics_.push_back(Make(Code::kRpl5007, Location{})
                                 .With("pipeline", PipelineText(program_.pipeline()))
                                 .With("stage", StageText(entry.stage)));
      return false;
    }
    for (const EntryPoint& other : entries_) {
      if (&other == &entry) {
        break;
      }
      if (other.stage == entry.stage) {
        diagnostics_.push_back(Make(Code::kRpl5005, Location{})
                                   .With("stage", StageText(entry.stage))
                                   .With("name", other.function)
                                   .With("other", entry.function));
        return false;
      }
      if (other.function == entry.function) {
        diagnostics_.push_back(Make(Code::kRpl5006, Location{}).With("name", entry.function));
        return false;
      }
    }
    return true;
  }

  // The function if it can be an entry point.
  ir::DeclId FindEntry(const EntryPoint& entry) {
    const NameId name = program_.FindName(entry.function);
    const NameAnswer answer = name.valid() ? answers_.Function(name) : NameAnswer{};
    switch (answer.kind) {
      case NameAnswer::Kind::kDecl:
        break;
      case NameAnswer::Kind::kNone:
        diagnostics_.push_back(Make(Code::kRpl5001, Location{}).With("name", entry.function));
        return {};
      case NameAnswer::Kind::kConflict:
        diagnostics_.push_back(Make(Code::kRpl5002, program_.NameLocation(answer.decl()))
                                   .With("name", entry.function));
        return {};
      case NameAnswer::Kind::kFailed:
      case NameAnswer::Kind::kOption:
      case NameAnswer::Kind::kConstant:
        return {};
    }
    const ir::ClosedDecl* signature = answers_.Decl(answer.decl());
    if (signature == nullptr) {
      return {};
    }
    if (!signature->members.empty() ||
        answers_.pool()[signature->type].kind != ir::TypeKind::kVoid) {
      diagnostics_.push_back(
          Make(Code::kRpl5003, program_.NameLocation(answer.decl())).With("name", entry.function));
      return {};
    }
    return answer.decl();
  }

  const ir::EntryRef* EntryOf(ir::Stage stage) const {
    const auto entry = std::ranges::find(out_.entries, stage, &ir::EntryRef::stage);
    return entry == out_.entries.end() ? nullptr : &*entry;
  }

  template <class Visit>
  static void ForSegments(const ir::EntryRef& entry, Visit visit) {
    for (const ir::FunctionRef& function : entry.functions) {
      for (const ir::SegmentRef& segment : function.segments) {
        visit(*segment.closed);
      }
    }
  }

  // Workgroup memory that reached functions mention, in program order, behind the interface.
  void ListWorkgroup() {
    if (program_.pipeline() != ir::PipelineType::kCompute) {
      return;
    }
    std::vector<ir::DeclId> found;
    for (const ir::EntryRef& entry : out_.entries) {
      ForSegments(entry, [&](const ir::ClosedSegment& segment) {
        for (const ir::Mention& mention : segment.mentions) {
          if (program_.Get(mention.decl).kind == ir::DeclKind::kWorkgroup &&
              std::ranges::find(found, mention.decl) == found.end()) {
            found.push_back(mention.decl);
          }
        }
      });
    }
    std::ranges::sort(found, {}, &ir::DeclId::value);
    for (const ir::DeclId id : found) {
      out_.interface.push_back(answers_.Decl(id));
      names_.Add(id);
    }
  }

  // Their values are part of the metadata and of nothing else.
  void ListSpecialization() {
    for (uint32_t i = 0; i < program_.option_count(); ++i) {
      const ir::OptionId id{i};
      const ir::Option& option = program_.Get(id);
      if (option.specialize == 0) {
        continue;
      }
      out_.specialization.push_back({.name = answers_.PoolText(program_.NameOf(id)),
                                     .id = static_cast<uint32_t>(out_.specialization.size()),
                                     .kind = option.kind,
                                     .default_bits = option.default_value,
                                     .bits = answers_.Option(id).bits});
    }
  }

  // What only all live segments together show. A function of two entry points is looked at twice;
  // equal messages are merged.
  void CheckFunctions() {
    for (const ir::EntryRef& entry : out_.entries) {
      for (const ir::FunctionRef& function : entry.functions) {
        CheckAssigned(program_, function, diagnostics_);
        for (const ir::SegmentRef& segment : function.segments) {
          for (const ir::LocalId local : segment.closed->contested) {
            names_.CheckLocal(local);
          }
        }
      }
    }
  }

  void CheckPosition() {
    const ir::EntryRef* vertex = EntryOf(ir::Stage::kVertex);
    if (vertex == nullptr) {
      return;
    }
    bool written = false;
    ForSegments(*vertex, [&](const ir::ClosedSegment& segment) {
      written =
          written || std::ranges::find(segment.stage_variables, ir::StageVariable::kPosition) !=
                         segment.stage_variables.end();
    });
    if (!written) {
      diagnostics_.push_back(
          Make(Code::kRpl5009, program_.NameLocation(vertex->function)).With("name", vertex->name));
    }
  }

  // State that the fragment stage reads and the vertex stage never writes.
  void CheckState() {
    const ir::EntryRef* vertex = EntryOf(ir::Stage::kVertex);
    const ir::EntryRef* fragment = EntryOf(ir::Stage::kFragment);
    if (vertex == nullptr || fragment == nullptr) {
      return;
    }
    Bitset settled(program_.member_count());  // written, or warned of
    ForMentions(*vertex, ir::Touch::kWrite,
                [&](const ir::Mention& mention, uint32_t) { settled.Set(mention.member.value); });
    ForMentions(*fragment, ir::Touch::kRead, [&](const ir::Mention& mention, uint32_t module) {
      const ir::Decl& decl = program_.Get(mention.decl);
      if (decl.container() != ir::ContainerKind::kState || settled.Test(mention.member.value)) {
        return;
      }
      settled.Set(mention.member.value);
      const ir::Member& member = program_.Get(mention.member);
      const ir::ModuleView& view = program_.module(program_.ModuleOf(mention.member));
      std::string field(view.Text(decl.name));
      field += ".";
      field += view.Text(member.name);
      diagnostics_.push_back(Make(Code::kRpl5010, program_.At(module, mention.span))
                                 .With("field", field)
                                 .Label(LabelKind::kDeclaredHere,
                                        program_.NameLocation(mention.member), {{"name", field}}));
    });
  }

  // Mentions of container fields that touch in the given way.
  template <class Visit>
  static void ForMentions(const ir::EntryRef& entry, ir::Touch touch, Visit visit) {
    ForSegments(entry, [&](const ir::ClosedSegment& segment) {
      for (const ir::Mention& mention : segment.mentions) {
        if (mention.member.valid() && (mention.touches & static_cast<uint8_t>(touch)) != 0) {
          visit(mention, segment.module);
        }
      }
    });
  }

  // --- option influence (rpl.md 12.3) ------------------------------------------------------------
  void ListOptions() {
    for (const ir::OptionId id : program_.options_by_name()) {
      if (!out_.live_options.Test(id.value)) {
        continue;
      }
      const auto bit = [&](const Bitset& reads, ir::Influence influence) {
        return reads.Test(id.value) ? static_cast<uint8_t>(influence) : uint8_t{0};
      };
      uint8_t influence = bit(layout_reads_, ir::Influence::kLayout);
      influence |= bit(settings_reads_, ir::Influence::kSettings);
      influence |= bit(code_reads_, ir::Influence::kCode);
      if (program_.Get(id).specialize != 0) {
        influence = static_cast<uint8_t>(ir::Influence::kSpecialization);
      } else if (influence == 0) {
        influence = static_cast<uint8_t>(ir::Influence::kCheck);
      }
      const ir::Option& option = program_.Get(id);
      const Value value = answers_.Option(id);
      const bool is_enum = value.kind == ir::ValueKind::kString;
      out_.option_uses.push_back({.name = answers_.PoolText(program_.NameOf(id)),
                                  .scope = option.scope,
                                  .kind = option.kind,
                                  .value = is_enum ? answers_.EnumIndex(id) : value.bits,
                                  .text = is_enum ? ir::StringId{value.bits} : ir::StringId{},
                                  .influence = influence});
    }
  }

  const Program& program_;
  std::span<const EntryPoint> entries_;
  Answers& answers_;
  Units& units_;
  std::vector<Diagnostic> diagnostics_;
  NameSpace names_;
  ir::ClosedVariant out_;
  ir::DeclId push_constant_;
  uint32_t color_outputs_ = 0;
  Bitset interface_reads_, layout_reads_, settings_reads_, code_reads_;
};

}  // namespace

Diagnosed<ir::ClosedVariant> CloseVariant(const Program& program,
                                          std::span<const EntryPoint> entries, Answers& answers,
                                          Units& units) {
  return VariantCloser(program, entries, answers, units).Run();
}

}  // namespace kiln::resolve
