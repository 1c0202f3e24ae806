// SPDX-License-Identifier: MIT
#include "compiler/emit/wgsl/module_writer.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "compiler/base/check.h"
#include "compiler/base/threads/stop.h"
#include "compiler/emit/wgsl/entry_interface.h"
#include "compiler/emit/wgsl/literals.h"
#include "compiler/emit/wgsl/lower/constant_text.h"
#include "compiler/emit/wgsl/lower/rows.h"
#include "compiler/emit/wgsl/memory_struct.h"
#include "compiler/emit/wgsl/names.h"
#include "compiler/emit/wgsl/typed/typed_writer.h"
#include "compiler/layout/rpl_adapter.h"

namespace kiln::wgsl {
namespace {

constexpr uint32_t kStageVariables = static_cast<uint32_t>(ir::StageVariable::kWorkgroupCount) + 1;

// Writes a module section by section, in the order of spec/wgsl 3.2, from what was collected first.
class ModuleWriter {
 public:
  ModuleWriter(const ModuleInputs& in, std::optional<uint32_t> entry) : in_(in), entry_(entry) {
    const auto count = static_cast<uint32_t>(in.variant.entries.size());
    for (uint32_t i = 0; i < count; ++i) {
      if (!entry.has_value() || *entry == i) {
        entries_.push_back(i);
      }
    }
  }

  std::string Run() {
    Collect();
    Directives();
    Structs();
    Overrides();
    PrivateVariables();
    WorkgroupVariables();
    Resources();
    Helpers();
    Functions();
    for (const uint32_t entry : entries_) {
      EntryPoint(entry);
    }
    return std::move(out_);
  }

 private:
  using AtomicSpan = std::span<const uint32_t>;

  const ir::Pool& pool() const { return in_.table.types().pool(); }
  Types& types() { return in_.table.types(); }
  const LiveEntry& Live(uint32_t entry) const { return in_.facts.entries[entry]; }
  AtomicSpan AtomicOf(ir::DeclId decl) const {
    const auto found = std::ranges::find(in_.facts.atomics, decl, &AtomicDecl::decl);
    return found == in_.facts.atomics.end() ? AtomicSpan{} : AtomicSpan(found->leaves);
  }
  const ModuleNeeds::Elements* Used(ir::DeclId decl) const;
  template <class Visit>
  void EachDecl(Visit visit) const;

  void Collect();
  void Directives();
  void Structs();
  void AtomicStructs(ir::TypeId type, AtomicSpan atomic, uint32_t first,
                     std::vector<std::string>& written);
  void Overrides();
  void PrivateVariables();
  void WorkgroupVariables();
  void Resources();
  void Resource(const ir::SpecialisedDecl& decl, uint32_t element,
                const layout::Placement& placement);
  void Helpers();
  void Functions();
  void Function(const LiveEntry& entry, const LiveFunction& function);
  void Head(const LiveEntry& entry, const LiveFunction& function);
  void Body(const LiveEntry& entry, const FunctionObject& object);
  void EntryPoint(uint32_t index);
  void EntryBody(const LiveEntry& entry, const EntryInterface& interface);
  std::string FunctionName(const LiveEntry& entry, const ir::FunctionRef& function) const;
  size_t TableNumber(ir::ConstId table) const;

  const ModuleInputs& in_;
  std::optional<uint32_t> entry_;
  std::vector<uint32_t> entries_;
  ModuleNeeds needs_;  // of all entries of the module
  bool asks_for_discard_ = false;
  bool writes_images_ = false;
  std::string out_;
};

const ModuleNeeds::Elements* ModuleWriter::Used(ir::DeclId decl) const { return needs_.Find(decl); }

template <class Visit>
void ModuleWriter::EachDecl(Visit visit) const {
  for (const ir::SpecialisedDecl* decl : in_.variant.interface) {
    if (const ModuleNeeds::Elements* used = Used(decl->decl)) {
      visit(*decl, *used);
    }
  }
}

void ModuleWriter::Collect() {
  if (entry_.has_value()) {
    needs_ = in_.needs[*entry_];
  } else {
    for (const uint32_t entry : entries_) {
      AddNeeds(Live(entry), in_.facts.atomics, in_.table, needs_);
    }
  }
  for (const uint32_t entry : entries_) {
    asks_for_discard_ = asks_for_discard_ || Live(entry).asks_for_discard;
  }
  EachDecl([&](const ir::SpecialisedDecl& decl, const ModuleNeeds::Elements&) {
    if (decl.kind == ir::DeclKind::kBuffer || decl.kind == ir::DeclKind::kPushConstant) {
      const ir::TypeId type = decl.type;
      for (const ir::ShapeMember& member : pool().Members(type)) {
        types().AddStructs(member.type, needs_.structs);
      }
      needs_.half = needs_.half || types().HoldsHalf(type);
    } else if (decl.kind == ir::DeclKind::kWorkgroup) {
      types().AddStructs(decl.type, needs_.structs);
      needs_.half = needs_.half || types().HoldsHalf(decl.type);
    } else if (decl.kind == ir::DeclKind::kImage &&
               pool()[decl.type].kind == ir::TypeKind::kImage &&
               ir::UnpackImage(pool()[decl.type].extent).storage) {
      writes_images_ = writes_images_ || decl.access() == ir::ImageAccess::kReadWrite;
    }
  });
}

void ModuleWriter::Directives() {
  if (needs_.half) {
    out_ += "enable f16;\n";
  }
  const bool unproven = std::ranges::any_of(
      entries_, [&](uint32_t entry) { return Live(entry).unproven.has_value(); });
  if (unproven) {
    out_ += "diagnostic(off, derivative_uniformity);\n";
  }
  out_ += out_.empty() ? "" : "\n";
}

// The same struct is a type of its own for each set of atomic leaves; its name says which.
void ModuleWriter::AtomicStructs(ir::TypeId type, AtomicSpan atomic, uint32_t first,
                                 std::vector<std::string>& written) {
  const ir::Type t = pool()[type];
  if (!types().HoldsAtomic(type, atomic, first)) {
    return;
  }
  if (t.kind == ir::TypeKind::kArray || t.kind == ir::TypeKind::kRuntimeArray) {
    return AtomicStructs(ir::TypeId{t.element}, atomic, first, written);
  }
  if (t.kind != ir::TypeKind::kStruct) {
    return;
  }
  uint32_t leaf = first;
  for (const ir::ShapeMember& member : pool().Members(type)) {
    AtomicStructs(member.type, atomic, leaf, written);
    leaf += types().LeavesOf(member.type);
  }
  const std::string name = types().Memory(type, atomic, first);
  if (std::ranges::find(written, name) == written.end()) {
    written.push_back(name);
    out_ += AtomicStructText(type, atomic, first, types()) + "\n";
  }
}

void ModuleWriter::Structs() {
  for (const ir::TypeId type : needs_.structs) {
    if (!StandsForItsMembers(pool(), type)) {
      out_ += StructText(type, types()) + "\n";
    }
  }
  std::vector<std::string> written;
  EachDecl([&](const ir::SpecialisedDecl& decl, const ModuleNeeds::Elements&) {
    const AtomicSpan atomic = AtomicOf(decl.decl);
    if (decl.kind == ir::DeclKind::kWorkgroup) {
      AtomicStructs(decl.type, atomic, 0, written);
    }
    if (decl.kind != ir::DeclKind::kBuffer && decl.kind != ir::DeclKind::kPushConstant) {
      return;
    }
    uint32_t leaf = 0;
    for (const ir::ShapeMember& member : pool().Members(decl.type)) {
      AtomicStructs(member.type, atomic, leaf, written);
      leaf += types().LeavesOf(member.type);
    }
    out_ += BlockText(MadeName(pool().Text(decl.name), "block"), decl.type, layout::RulesOf(decl),
                      atomic, types(), in_.layouts) +
            "\n";
  });
}

void ModuleWriter::Overrides() {
  const std::string before = std::exchange(out_, {});
  for (const ir::SpecConstant& option : in_.variant.specialization) {
    const ir::Scalar scalar = option.kind == ir::OptionKind::kFlag   ? ir::Scalar::kBool
                              : option.kind == ir::OptionKind::kUint ? ir::Scalar::kU32
                              : option.kind == ir::OptionKind::kSint ? ir::Scalar::kS32
                                                                     : ir::Scalar::kF32;
    out_ +=
        fmt::format("@id({}) override {} : {} = {};\n", option.id, NameOf(pool().Text(option.name)),
                    ScalarText(scalar), Literal(scalar, option.default_bits));
  }
  if (!out_.empty()) {
    out_ += "\n";
  }
  out_ = before + out_;
}

// By the place among those that the module uses.
size_t ModuleWriter::TableNumber(ir::ConstId table) const {
  return static_cast<size_t>(std::ranges::find(needs_.tables, table) - needs_.tables.begin());
}

void ModuleWriter::PrivateVariables() {
  const size_t before = out_.size();
  const auto add = [&](std::string_view name, std::string_view type) {
    out_ += fmt::format("var<private> {} : {};\n", name, type);
  };
  for (uint32_t i = 0; i < kStageVariables; ++i) {
    const auto variable = static_cast<ir::StageVariable>(i);
    const bool position = variable == ir::StageVariable::kPosition &&
                          std::ranges::any_of(entries_, [&](uint32_t entry) {
                            return in_.variant.entries[entry].stage == ir::Stage::kVertex;
                          });
    if (!IsHandedOn(variable) && ((needs_.stage_variables & BitOf(variable)) != 0 || position)) {
      add(StageVariableName(variable), BuiltinType(variable));
    }
  }
  for (const ir::SpecialisedDecl* decl : in_.variant.interface) {
    if (decl->kind != ir::DeclKind::kContainer) {
      continue;
    }
    for (const ir::SpecialisedMember& member : decl->members) {
      bool used = needs_.Uses(member.member, ir::Direction::kIn) ||
                  needs_.Uses(member.member, ir::Direction::kOut);
      // Or a vertex entry point hands it over to a stage that reads it, though nobody writes it.
      for (const uint32_t entry : entries_) {
        used = used || (in_.variant.entries[entry].stage == ir::Stage::kVertex &&
                        decl->container() == ir::ContainerKind::kState &&
                        std::ranges::any_of(in_.needs, [&](const ModuleNeeds& other) {
                          return other.Uses(member.member, ir::Direction::kIn);
                        }));
      }
      if (used) {
        add(in_.table.names().FieldName(member.member), types().Text(member.type));
      }
    }
  }
  for (const SpecialBits& special : needs_.specials) {
    out_ += fmt::format("var<private> kiln__bits_{0:08x} : u32 = 0x{0:08x}u;\n", special.bits);
  }
  for (const ir::ConstId table : needs_.tables) {
    out_ +=
        fmt::format("var<private> kiln__table_{} : {} = {};\n", TableNumber(table),
                    std::string(types().Text(pool()[table].type)), ConstantText(table, types()));
  }
  if (asks_for_discard_) {
    add("kiln__discarded", "bool");
  }
  if (out_.size() != before) {
    out_ += "\n";
  }
}

void ModuleWriter::WorkgroupVariables() {
  const size_t before = out_.size();
  EachDecl([&](const ir::SpecialisedDecl& decl, const ModuleNeeds::Elements&) {
    if (decl.kind == ir::DeclKind::kWorkgroup) {
      out_ += fmt::format("var<workgroup> {} : {};\n", in_.table.names().ClassOf(decl.decl).name,
                          types().Memory(decl.type, AtomicOf(decl.decl)));
    }
  });
  if (out_.size() != before) {
    out_ += "\n";
  }
}

void ModuleWriter::Resource(const ir::SpecialisedDecl& decl, uint32_t element,
                            const layout::Placement& placement) {
  const std::string& name = in_.table.names().ClassOf(decl.decl).name;
  uint32_t binding = placement.binding;
  std::string declared;
  if (decl.kind == ir::DeclKind::kBuffer || decl.kind == ir::DeclKind::kPushConstant) {
    const bool uniform =
        decl.kind == ir::DeclKind::kPushConstant || decl.buffer() == ir::BufferKind::kUniform;
    const std::string_view space = uniform ? "uniform"
                                   : decl.buffer() == ir::BufferKind::kReadOnlyStorage
                                       ? "storage, read"
                                       : "storage, read_write";
    declared =
        fmt::format("var<{}> {} : {}", space, name, MadeName(pool().Text(decl.name), "block"));
  } else if (decl.kind == ir::DeclKind::kSampler) {
    const bool compares = in_.facts.UseOf(decl.decl) == SamplerUse::kCompares;
    declared = fmt::format("var {} : {}", name, compares ? "sampler_comparison" : "sampler");
  } else if (pool()[decl.type].kind == ir::TypeKind::kArray) {
    binding = in_.layout.ElementsOf(decl.decl)[element];
    declared = fmt::format("var {} : {}", ElementName(name, element),
                           types().Texture(ir::TypeId{pool()[decl.type].element}));
  } else {
    declared = fmt::format("var {} : {}", name, types().Texture(decl.type, decl.access()));
  }
  out_ += fmt::format("@group({}) @binding({}) {};\n", placement.set, binding, declared);
}

void ModuleWriter::Resources() {
  struct Row {
    uint32_t group, binding, element;
    const ir::SpecialisedDecl* decl;
  };
  std::vector<Row> rows;
  EachDecl([&](const ir::SpecialisedDecl& decl, const ModuleNeeds::Elements& used) {
    if (decl.kind == ir::DeclKind::kWorkgroup) {
      return;
    }
    const layout::Placement& placement = in_.layout.PlacementOf(decl.decl);
    const bool split =
        decl.kind == ir::DeclKind::kImage && pool()[decl.type].kind == ir::TypeKind::kArray;
    for (const uint32_t element : used.elements) {
      const uint32_t binding =
          split ? in_.layout.ElementsOf(decl.decl)[element] : placement.binding;
      rows.push_back({placement.set, binding, element, &decl});
    }
  });
  // No two rows are equal in group and binding, so there is one order.
  std::ranges::sort(rows, [](const Row& a, const Row& b) {
    return std::pair(a.group, a.binding) < std::pair(b.group, b.binding);
  });
  for (const Row& row : rows) {
    Resource(*row.decl, row.element, in_.layout.PlacementOf(row.decl->decl));
  }
  if (!rows.empty()) {
    out_ += "\n";
  }
}

void ModuleWriter::Helpers() {
  for (uint32_t i = 0; i < kHelperCount; ++i) {
    const auto helper = static_cast<Helper>(i);
    if ((needs_.helpers & BitOf(helper)) != 0) {
      out_ += RowOf(helper).text;
      out_ += "\n";
    }
  }
}

std::string ModuleWriter::FunctionName(const LiveEntry& entry,
                                       const ir::FunctionRef& function) const {
  const std::string_view name = pool().Text(function.signature->name);
  if (function.function == entry.ref->function) {
    return MadeName(name, "inner");
  }
  // Both stages of a combined module have their own version.
  if (!entry_.has_value() && function.stage_sensitive) {
    return MadeName(name, function.stage == ir::Stage::kVertex     ? "vertex"
                          : function.stage == ir::Stage::kFragment ? "fragment"
                                                                   : "compute");
  }
  return NameOf(name);
}

void ModuleWriter::Functions() {
  std::vector<const ir::FunctionRef*> written;
  // Entry points share functions of one number: the first that reaches it writes it.
  for (const uint32_t entry : entries_) {
    for (const LiveFunction& function : Live(entry).functions) {
      const bool again = std::ranges::any_of(written, [&](const ir::FunctionRef* other) {
        return other->number == function.ref->number;
      });
      if (!again) {
        written.push_back(function.ref);
        Function(Live(entry), function);
      }
    }
  }
}

void ModuleWriter::Head(const LiveEntry& entry, const LiveFunction& function) {
  const ir::SpecialisedDecl& signature = *function.ref->signature;
  out_ += "fn " + FunctionName(entry, *function.ref) + "(";
  std::string_view separator;
  for (size_t i = 0; i < signature.members.size(); ++i) {
    const ir::SpecialisedMember& parameter = signature.members[i];
    const ir::TypeKind kind = pool()[parameter.type].kind;
    out_ += separator;
    separator = ", ";
    out_ += NameOf(pool().Text(parameter.name)) + " : ";
    if (kind == ir::TypeKind::kSampler) {
      out_ += function.samplers[i] == SamplerUse::kCompares ? "sampler_comparison" : "sampler";
    } else if (kind == ir::TypeKind::kImage) {
      out_ += types().Texture(parameter.type);
    } else if (parameter.access == ir::Access::kIn) {
      out_ += types().Text(parameter.type);
    } else {
      out_ += "ptr<function, " + types().Text(parameter.type) + ">";
    }
  }
  for (uint32_t i = 0; i < kStageVariables; ++i) {
    const auto variable = static_cast<ir::StageVariable>(i);
    if ((function.handed_on & BitOf(variable)) != 0) {
      out_ +=
          fmt::format("{}{} : {}", separator, StageVariableName(variable), BuiltinType(variable));
      separator = ", ";
    }
  }
  out_ += ")";
  if (pool()[signature.type].kind != ir::TypeKind::kVoid) {
    out_ += " -> " + types().Text(signature.type);
  }
  out_ += " {\n";
}

void ModuleWriter::Body(const LiveEntry& entry, const FunctionObject& object) {
  const std::string_view text = object.body.text;
  const std::vector<Relocation>& marks = object.body.marks;
  uint32_t at = 0;
  for (size_t i = 0; i < marks.size(); ++i) {
    const Relocation& mark = marks[i];
    out_ += text.substr(at, mark.offset - at);
    at = mark.offset;
    bool there = true;
    switch (mark.kind) {
      case MarkKind::kFunction:
        out_ += FunctionName(entry, *entry.Of(ir::DeclId{mark.id}).ref);
        break;
      case MarkKind::kArguments: {
        const LiveFunction& callee = entry.Of(ir::DeclId{mark.id});
        bool first = callee.ref->signature->members.empty();
        for (uint32_t v = 0; v < kStageVariables; ++v) {
          const auto variable = static_cast<ir::StageVariable>(v);
          if ((callee.handed_on & BitOf(variable)) != 0) {
            out_ += std::exchange(first, false) ? "" : ", ";
            out_ += StageVariableName(variable);
          }
        }
        break;
      }
      case MarkKind::kTable:
        out_ += fmt::format("kiln__table_{}", TableNumber(ir::ConstId{mark.id}));
        break;
      case MarkKind::kOverride: {
        const auto option =
            std::ranges::find(in_.variant.specialization, mark.id, &ir::SpecConstant::id);
        KILN_CHECK(option != in_.variant.specialization.end(), "option {} is of no variant",
                   mark.id);
        out_ += NameOf(pool().Text(option->name));
        break;
      }
      case MarkKind::kIfKills:
        there = entry.Of(ir::DeclId{mark.id}).discards;
        break;
      case MarkKind::kIfFlag:
        there = asks_for_discard_;
        break;
      case MarkKind::kIfWritesImages:
        there = writes_images_;
        break;
      case MarkKind::kEnd:
        break;
      case MarkKind::kLocal:
      case MarkKind::kIndent:
      case MarkKind::kInsertionPoint:
      case MarkKind::kResult:  // of typed modules
      case MarkKind::kZero:
      case MarkKind::kIfInLoop:
      case MarkKind::kIfKillsInLoop:
        KILN_UNREACHABLE();
    }
    // Conditions do not nest, so the next end is that of this one.
    if (!there) {
      while (marks[i].kind != MarkKind::kEnd) {
        ++i;
      }
      at = marks[i].offset;
    }
  }
  out_ += text.substr(at);
}

void ModuleWriter::Function(const LiveEntry& entry, const LiveFunction& function) {
  CheckStop();
  const FunctionObject& object = in_.table.ObjectOf(*function.ref, in_.facts.atomics);
  Head(entry, function);
  Body(entry, object);
  const ir::TypeId result = function.ref->signature->type;
  // WGSL wants this return even where control never gets.
  if (!object.ends && pool()[result].kind != ir::TypeKind::kVoid) {
    out_ += "  return " + types().Text(result) + "();\n";
  }
  out_ += "}\n\n";
}

void ModuleWriter::EntryBody(const LiveEntry& entry, const EntryInterface& interface) {
  for (const InterfaceLeaf& input : interface.inputs) {
    const bool handed_on = std::ranges::any_of(
        std::initializer_list<ir::StageVariable>{ir::StageVariable::kWorkgroupId,
                                                 ir::StageVariable::kWorkgroupCount},
        [&](ir::StageVariable variable) { return StageVariableName(variable) == input.name; });
    if (!handed_on) {
      out_ += fmt::format("  {} = {}__arg;\n", input.variable, input.name);
    }
  }
  const LiveFunction& main = entry.functions.back();
  std::string arguments;
  for (uint32_t i = 0; i < kStageVariables; ++i) {
    const auto variable = static_cast<ir::StageVariable>(i);
    if ((main.handed_on & BitOf(variable)) != 0) {
      arguments +=
          (arguments.empty() ? "" : ", ") + std::string(StageVariableName(variable)) + "__arg";
    }
  }
  out_ += fmt::format("  {}({});\n", FunctionName(entry, *main.ref), arguments);
}

void ModuleWriter::EntryPoint(uint32_t index) {
  const LiveEntry& entry = Live(index);
  const ir::Stage stage = entry.ref->stage;
  const ModuleNeeds* next = nullptr;
  for (uint32_t i = 0; stage == ir::Stage::kVertex && i < in_.variant.entries.size(); ++i) {
    next = in_.variant.entries[i].stage == ir::Stage::kFragment ? &in_.needs[i] : next;
  }
  const InterfaceInputs inputs{
      .variant = in_.variant, .layout = in_.layout, .names = in_.table.names(), .types = types()};
  const EntryInterface interface = InterfaceOf(stage, in_.needs[index], next, inputs);
  const std::string_view source = pool().Text(entry.functions.back().ref->signature->name);
  const std::string result = MadeName(source, "out");
  if (!interface.outputs.empty()) {
    out_ += fmt::format("struct {} {{\n", result);
    for (const InterfaceLeaf& leaf : interface.outputs) {
      out_ += fmt::format("  {} {} : {},\n", leaf.attributes, leaf.name, leaf.type);
    }
    out_ += "}\n\n";
  }
  if (stage == ir::Stage::kCompute) {
    const std::array<uint32_t, 3> size = layout::WorkgroupSize(in_.variant);
    out_ += fmt::format("@compute @workgroup_size({}, {}, {})\n", size[0], size[1], size[2]);
  } else {
    out_ += stage == ir::Stage::kVertex ? "@vertex\n" : "@fragment\n";
  }
  out_ += fmt::format("fn {}(", EntryName(source));
  std::string_view separator;
  for (const InterfaceLeaf& leaf : interface.inputs) {
    out_ += fmt::format("{}{} {}__arg : {}", separator, leaf.attributes, leaf.name, leaf.type);
    separator = ", ";
  }
  out_ += interface.outputs.empty() ? ") {\n" : fmt::format(") -> {} {{\n", result);
  EntryBody(entry, interface);
  if (!interface.outputs.empty()) {
    out_ += fmt::format("  return {}(", result);
    separator = "";
    for (const InterfaceLeaf& leaf : interface.outputs) {
      out_ += fmt::format("{}{}", separator, leaf.variable);
      separator = ", ";
    }
    out_ += ");\n";
  }
  out_ += "}\n";
  if (index != entries_.back()) {
    out_ += "\n";
  }
}

}  // namespace

std::string EntryName(std::string_view function) { return NameOf(function); }

std::string WriteModule(const ModuleInputs& inputs, std::optional<uint32_t> entry) {
  return inputs.table.types().typed ? WriteTypedModule(inputs, entry)
                                    : ModuleWriter(inputs, entry).Run();
}

}  // namespace kiln::wgsl
