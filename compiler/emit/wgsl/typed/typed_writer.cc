// SPDX-License-Identifier: MIT
#include "compiler/emit/wgsl/typed/typed_writer.h"

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "compiler/base/check.h"
#include "compiler/base/threads/stop.h"
#include "compiler/emit/wgsl/literals.h"
#include "compiler/emit/wgsl/lower/constant_text.h"
#include "compiler/emit/wgsl/lower/rows.h"
#include "compiler/emit/wgsl/names.h"
#include "compiler/emit/wgsl/typed/host_structs.h"
#include "compiler/emit/wgsl/typed/legal_names.h"
#include "compiler/emit/wgsl/typed/typed_interface.h"
#include "compiler/layout/rpl_adapter.h"

namespace kiln::wgsl {
namespace {

using AtomicSpan = std::span<const uint32_t>;

bool IsValueName(std::string_view name) {
  return name.starts_with('_') &&
         std::all_of(name.begin() + 1, name.end(), [](char c) { return c >= '0' && c <= '9'; });
}

bool IsBlock(const ir::SpecialisedDecl& decl) {
  return decl.kind == ir::DeclKind::kBuffer || decl.kind == ir::DeclKind::kPushConstant;
}

class TypedWriter {
 public:
  TypedWriter(const ModuleInputs& in, std::optional<uint32_t> entry)
      : in_(in), host_(in.table.types(), in.layouts) {
    const auto count = static_cast<uint32_t>(in.variant.entries.size());
    for (uint32_t i = 0; i < count; ++i) {
      if (!entry.has_value() || *entry == i) {
        entries_.push_back(i);
      }
    }
  }

  std::string Run() {
    Collect();
    NameFunctions();
    Directives();
    Structs();
    Overrides();
    Variables();
    Resources();
    Helpers();
    Functions();
    types().atomic_only.clear();
    return std::move(out_);
  }

 private:
  const ir::Pool& pool() const { return in_.table.types().pool(); }
  Types& types() { return in_.table.types(); }
  const LiveEntry& Live(uint32_t entry) const { return in_.facts.entries[entry]; }
  const FunctionObject& ObjectOf(const LiveFunction& function) {
    return in_.table.ObjectOf(*function.ref, in_.facts.atomics);
  }
  AtomicSpan AtomicOf(ir::DeclId decl) const {
    const auto found = std::ranges::find(in_.facts.atomics, decl, &AtomicDecl::decl);
    return found == in_.facts.atomics.end() ? AtomicSpan{} : AtomicSpan(found->leaves);
  }
  const std::string& NameOf(const ir::SpecialisedDecl& decl) const {
    return in_.table.names().ClassOf(decl.decl).name;
  }
  bool IsBare(const ir::SpecialisedDecl& decl) const {
    return in_.table.names().ClassOf(decl.decl).bare;
  }
  template <class Visit>
  void EachDecl(Visit visit) const {
    for (const ir::SpecialisedDecl* decl : in_.variant.interface) {
      if (needs_.Find(decl->decl) != nullptr) {
        visit(*decl);
      }
    }
  }

  void Collect();
  void NameFunctions();
  void Directives();
  void Structs();
  void AtomicStructs(ir::TypeId type, AtomicSpan atomic, uint32_t first);
  void WriteStruct(const std::string& name, ir::TypeId type, AtomicSpan atomic, uint32_t first);
  std::string BlockName(const ir::SpecialisedDecl& decl) const;
  void Overrides();
  void Variables();
  void Resources();
  std::string ResourceText(const ir::SpecialisedDecl& decl);
  void Helpers();
  void Functions();
  void Function(const LiveEntry& entry, const LiveFunction& function);
  void EntryPoint(const LiveEntry& entry);
  void Body(const LiveEntry& entry, const FunctionObject& object, const std::string& result);
  const std::string& FunctionName(const ir::FunctionRef& function) const;
  size_t TableNumber(ir::ConstId table) const {
    return static_cast<size_t>(std::ranges::find(needs_.tables, table) - needs_.tables.begin());
  }

  const ModuleInputs& in_;
  HostStructs host_;
  std::vector<uint32_t> entries_;
  ModuleNeeds needs_;
  NameSet scope_;                                            // of the module
  std::vector<std::pair<uint32_t, std::string>> functions_;  // by number
  std::vector<TypedInterface> interfaces_;                   // parallel to entries_
  std::vector<std::string> results_;                         // names of structs, the same
  std::vector<std::string> written_;                         // structs
  std::string out_;
};

// What the module needs. A struct that only memory with atomics has keeps its name.
void TypedWriter::Collect() {
  for (const uint32_t entry : entries_) {
    AddNeeds(Live(entry), in_.facts.atomics, in_.table, needs_);
    interfaces_.push_back(
        InterfaceOf(*Live(entry).ref, ObjectOf(Live(entry).functions.back()).io, types()));
  }
  std::vector<ir::TypeId> held;  // structs in memory that holds atomics
  EachDecl([&](const ir::SpecialisedDecl& decl) {
    const bool memory = IsBlock(decl) || decl.kind == ir::DeclKind::kWorkgroup ||
                        decl.kind == ir::DeclKind::kPrivate;
    if (!memory) {
      return;
    }
    needs_.half = needs_.half || types().HoldsHalf(decl.type);
    if (IsBlock(decl)) {
      const ir::TypeId content = IsBare(decl) ? pool().Members(decl.type)[0].type : decl.type;
      host_.Add(content, layout::RulesOf(decl));
    }
    std::vector<ir::TypeId>& structs = AtomicOf(decl.decl).empty() ? needs_.structs : held;
    if (IsBlock(decl)) {
      for (const ir::ShapeMember& member : pool().Members(decl.type)) {
        types().AddStructs(member.type, structs);
      }
    } else {
      types().AddStructs(decl.type, structs);
    }
  });
  for (const ir::TypeId type : held) {
    if (std::ranges::find(needs_.structs, type) == needs_.structs.end()) {
      types().atomic_only.push_back(type);
    }
  }
}

// Functions have their names of the source; versions and overloads of one name are numbered in the
// order in which they stand, around everything else at module scope and all locals.
void TypedWriter::NameFunctions() {
  // An engine asks for entry points by name, and nobody calls them, so a local may have it as well.
  for (const uint32_t entry : entries_) {
    const ir::FunctionRef& function = *Live(entry).functions.back().ref;
    functions_.emplace_back(function.number, LegalName(pool().Text(function.signature->name)));
    scope_.Add(functions_.back().second);
  }
  for (const ir::TypeId type : needs_.structs) {
    scope_.Add(types().Text(type));
  }
  for (const ir::TypeId type : types().atomic_only) {
    scope_.Add(types().Text(type));
  }
  EachDecl([&](const ir::SpecialisedDecl& decl) {
    scope_.Add(NameOf(decl));
    if (IsBlock(decl) && !IsBare(decl)) {
      scope_.Add(BlockName(decl));
    }
  });
  for (const ir::SpecConstant& option : in_.variant.specialization) {
    scope_.Add(LegalName(pool().Text(option.name)));
  }
  for (const uint32_t entry : entries_) {
    for (const LiveFunction& function : Live(entry).functions) {
      for (const LocalName& local : ObjectOf(function).names) {
        scope_.Add(local.name);
      }
    }
  }
  const auto take = [&](const ir::FunctionRef& function) {
    const std::string name = LegalName(pool().Text(function.signature->name));
    functions_.emplace_back(function.number, scope_.Take(IsValueName(name) ? "x" + name : name));
  };
  for (const uint32_t entry : entries_) {
    for (const LiveFunction& function : Live(entry).functions) {
      if (std::ranges::find(functions_, function.ref->number,
                            &std::pair<uint32_t, std::string>::first) == functions_.end()) {
        take(*function.ref);
      }
    }
  }
  for (size_t i = 0; i < entries_.size(); ++i) {
    results_.push_back(interfaces_[i].outputs.size() > 1
                           ? scope_.Take(functions_[i].second + "_out")
                           : std::string());
  }
}

const std::string& TypedWriter::FunctionName(const ir::FunctionRef& function) const {
  const auto found =
      std::ranges::find(functions_, function.number, &std::pair<uint32_t, std::string>::first);
  KILN_CHECK(found != functions_.end(), "function {} has no name", function.number);
  return found->second;
}

void TypedWriter::Directives() {
  std::vector<std::string> enable;
  for (const TypedInterface& interface : interfaces_) {
    enable.insert(enable.end(), interface.enable.begin(), interface.enable.end());
  }
  if (needs_.half) {
    enable.emplace_back("f16");
  }
  std::ranges::sort(enable);
  const auto repeated = std::ranges::unique(enable);
  enable.erase(repeated.begin(), repeated.end());
  for (const std::string& name : enable) {
    out_ += fmt::format("enable {};\n", name);
  }
  if (std::ranges::any_of(entries_,
                          [&](uint32_t entry) { return Live(entry).unproven.has_value(); })) {
    out_ += "diagnostic(off, derivative_uniformity);\n";
  }
  out_ += out_.empty() ? "" : "\n";
}

// A struct of a name is written once: the block of a buffer and the struct that is its content are
// two types of one shape.
void TypedWriter::WriteStruct(const std::string& name, ir::TypeId type, AtomicSpan atomic,
                              uint32_t first) {
  if (std::ranges::find(written_, name) == written_.end()) {
    written_.push_back(name);
    out_ += host_.Text(name, type, atomic, first) + "\n";
  }
}

void TypedWriter::AtomicStructs(ir::TypeId type, AtomicSpan atomic, uint32_t first) {
  const ir::Type t = pool()[type];
  if (t.kind == ir::TypeKind::kArray || t.kind == ir::TypeKind::kRuntimeArray) {
    return AtomicStructs(ir::TypeId{t.element}, atomic, first);
  }
  if (t.kind != ir::TypeKind::kStruct) {
    return;
  }
  uint32_t leaf = first;
  for (const ir::ShapeMember& member : pool().Members(type)) {
    AtomicStructs(member.type, atomic, leaf);
    leaf += types().LeavesOf(member.type);
  }
  WriteStruct(types().Memory(type, atomic, first), type, atomic, first);
}

// A block that is a declared struct has its name, any other one that of the buffer.
std::string TypedWriter::BlockName(const ir::SpecialisedDecl& decl) const {
  const std::string shape = LegalName(pool().Text(pool().ShapeOf(decl.type).name));
  return decl.members.empty() ? shape : NameOf(decl) + "_block";
}

void TypedWriter::Structs() {
  for (const ir::TypeId type : needs_.structs) {
    WriteStruct(types().Text(type), type, {}, 0);
  }
  EachDecl([&](const ir::SpecialisedDecl& decl) {
    const AtomicSpan atomic = AtomicOf(decl.decl);
    if (decl.kind == ir::DeclKind::kWorkgroup && !atomic.empty()) {
      AtomicStructs(decl.type, atomic, 0);
    }
    if (!IsBlock(decl)) {
      return;
    }
    uint32_t leaf = 0;
    for (const ir::ShapeMember& member : pool().Members(decl.type)) {
      if (!atomic.empty()) {
        AtomicStructs(member.type, atomic, leaf);
      }
      leaf += types().LeavesOf(member.type);
    }
    if (!IsBare(decl)) {
      WriteStruct(BlockName(decl), decl.type, atomic, 0);
    }
  });
  for (size_t i = 0; i < entries_.size(); ++i) {
    if (results_[i].empty()) {
      continue;
    }
    out_ += fmt::format("struct {} {{\n", results_[i]);
    for (const TypedLeaf& leaf : interfaces_[i].outputs) {
      out_ += fmt::format("  {} {} : {},\n", leaf.attributes, leaf.name, leaf.type);
    }
    out_ += "}\n\n";
  }
}

void TypedWriter::Overrides() {
  for (const ir::SpecConstant& option : in_.variant.specialization) {
    const ir::Scalar scalar = option.kind == ir::OptionKind::kFlag   ? ir::Scalar::kBool
                              : option.kind == ir::OptionKind::kUint ? ir::Scalar::kU32
                              : option.kind == ir::OptionKind::kSint ? ir::Scalar::kS32
                                                                     : ir::Scalar::kF32;
    out_ += fmt::format("@id({}) override {} : {} = {};\n", option.id,
                        LegalName(pool().Text(option.name)), ScalarText(scalar),
                        Literal(scalar, option.default_bits));
  }
  out_ += in_.variant.specialization.empty() ? "" : "\n";
}

void TypedWriter::Variables() {
  const size_t before = out_.size();
  EachDecl([&](const ir::SpecialisedDecl& decl) {
    if (decl.kind == ir::DeclKind::kPrivate) {
      out_ += fmt::format("var<private> {} : {}{};\n", NameOf(decl),
                          std::string(types().Text(decl.type)),
                          decl.initial.valid() ? " = " + ConstantText(decl.initial, types()) : "");
    } else if (decl.kind == ir::DeclKind::kWorkgroup) {
      out_ += fmt::format("var<workgroup> {} : {};\n", NameOf(decl),
                          types().Memory(decl.type, AtomicOf(decl.decl)));
    }
  });
  for (const SpecialBits& special : needs_.specials) {
    out_ += fmt::format("var<private> kiln__bits_{0:08x} : u32 = 0x{0:08x}u;\n", special.bits);
  }
  // A constant, which is a table again when it is read. Numbers without a literal are no constants.
  for (const ir::ConstId table : needs_.tables) {
    const std::string value = ConstantText(table, types());
    out_ += fmt::format("{} kiln__table_{} : {} = {};\n",
                        value.find("bitcast") == std::string::npos ? "const" : "var<private>",
                        TableNumber(table), std::string(types().Text(pool()[table].type)), value);
  }
  out_ += out_.size() == before ? "" : "\n";
}

std::string TypedWriter::ResourceText(const ir::SpecialisedDecl& decl) {
  if (decl.kind == ir::DeclKind::kSampler) {
    const bool compares = in_.facts.UseOf(decl.decl) == SamplerUse::kCompares;
    return fmt::format("var {} : {}", NameOf(decl), compares ? "sampler_comparison" : "sampler");
  }
  if (decl.kind == ir::DeclKind::kImage) {
    return fmt::format("var {} : {}", NameOf(decl), types().Texture(decl.type, decl.access()));
  }
  const bool uniform =
      decl.kind == ir::DeclKind::kPushConstant || decl.buffer() == ir::BufferKind::kUniform;
  const std::string_view space = uniform ? "uniform"
                                 : decl.buffer() == ir::BufferKind::kReadOnlyStorage
                                     ? "storage, read"
                                     : "storage, read_write";
  const std::string type =
      IsBare(decl) ? types().Memory(pool().Members(decl.type)[0].type, AtomicOf(decl.decl))
                   : BlockName(decl);
  return fmt::format("var<{}> {} : {}", space, NameOf(decl), type);
}

void TypedWriter::Resources() {
  struct Row {
    uint32_t group, binding;
    const ir::SpecialisedDecl* decl;
  };
  std::vector<Row> rows;
  EachDecl([&](const ir::SpecialisedDecl& decl) {
    if (decl.kind != ir::DeclKind::kWorkgroup && decl.kind != ir::DeclKind::kPrivate) {
      const layout::Placement& placement = in_.layout.PlacementOf(decl.decl);
      rows.push_back({placement.set, placement.binding, &decl});
    }
  });
  std::ranges::sort(rows, [](const Row& a, const Row& b) {
    return std::tie(a.group, a.binding) < std::tie(b.group, b.binding);
  });
  for (const Row& row : rows) {
    out_ += fmt::format("@group({}) @binding({}) {};\n", row.group, row.binding,
                        ResourceText(*row.decl));
  }
  out_ += rows.empty() ? "" : "\n";
}

void TypedWriter::Helpers() {
  for (uint32_t i = 0; i < kHelperCount; ++i) {
    if ((needs_.helpers & BitOf(static_cast<Helper>(i))) != 0) {
      out_ += RowOf(static_cast<Helper>(i)).text;
      out_ += "\n";
    }
  }
}

void TypedWriter::Functions() {
  std::vector<uint32_t> written;
  for (const uint32_t entry : entries_) {
    const LiveEntry& live = Live(entry);
    for (size_t i = 0; i + 1 < live.functions.size(); ++i) {
      const uint32_t number = live.functions[i].ref->number;
      if (std::ranges::find(written, number) == written.end()) {
        written.push_back(number);
        Function(live, live.functions[i]);
      }
    }
  }
  for (const uint32_t entry : entries_) {
    EntryPoint(Live(entry));
  }
  out_.pop_back();  // the empty line behind the last
}

// Parameters are called what their region calls them.
void TypedWriter::Function(const LiveEntry& entry, const LiveFunction& function) {
  CheckStop();
  const FunctionObject& object = ObjectOf(function);
  const ir::SpecialisedDecl& signature = *function.ref->signature;
  out_ += "fn " + FunctionName(*function.ref) + "(";
  std::string_view separator;
  for (size_t i = 0; i < signature.members.size(); ++i) {
    const ir::SpecialisedMember& parameter = signature.members[i];
    const ir::TypeKind kind = pool()[parameter.type].kind;
    const auto local = std::ranges::find(object.names, parameter.local, &LocalName::local);
    KILN_CHECK(local != object.names.end(), "a parameter without a name");
    std::string name = local->name;
    out_ += separator;
    separator = ", ";
    if (kind == ir::TypeKind::kSampler) {
      out_ += name + (function.samplers[i] == SamplerUse::kCompares ? " : sampler_comparison"
                                                                    : " : sampler");
    } else if (kind == ir::TypeKind::kImage) {
      out_ += name + " : " + types().Texture(parameter.type);
    } else if (parameter.access == ir::Access::kIn) {
      out_ += name + " : " + types().Text(parameter.type);
    } else {
      // "(*name)" is the place.
      out_ += name.substr(2, name.size() - 3) + " : ptr<function, " + types().Text(parameter.type) +
              ">";
    }
  }
  out_ += ")";
  const bool gives = pool()[signature.type].kind != ir::TypeKind::kVoid;
  out_ += gives ? " -> " + types().Text(signature.type) + " {\n" : " {\n";
  Body(entry, object, {});
  if (!object.ends && gives) {
    out_ += "  return " + ZeroText(signature.type, types()) + ";\n";
  }
  out_ += "}\n\n";
}

void TypedWriter::EntryPoint(const LiveEntry& entry) {
  CheckStop();
  const LiveFunction& function = entry.functions.back();
  const auto index = static_cast<size_t>(&entry - in_.facts.entries.data());
  const auto place = static_cast<size_t>(std::ranges::find(entries_, static_cast<uint32_t>(index)) -
                                         entries_.begin());
  const TypedInterface& interface = interfaces_[place];
  if (entry.ref->stage == ir::Stage::kCompute) {
    const std::array<uint32_t, 3> size = layout::WorkgroupSize(in_.variant);
    out_ += fmt::format("@compute @workgroup_size({}, {}, {})\n", size[0], size[1], size[2]);
  } else {
    out_ += entry.ref->stage == ir::Stage::kVertex ? "@vertex\n" : "@fragment\n";
  }
  out_ += "fn " + FunctionName(*function.ref) + "(";
  std::string_view separator;
  for (const TypedLeaf& leaf : interface.inputs) {
    out_ += fmt::format("{}{} {} : {}", separator, leaf.attributes, leaf.name, leaf.type);
    separator = ", ";
  }
  out_ += ")";
  if (interface.outputs.size() > 1) {
    out_ += " -> " + results_[place];
  } else if (!interface.outputs.empty()) {
    out_ += fmt::format(" -> {} {}", interface.outputs[0].attributes, interface.outputs[0].type);
  }
  out_ += " {\n";
  Body(entry, ObjectOf(function), results_[place]);
  out_ += "}\n\n";
}

void TypedWriter::Body(const LiveEntry& entry, const FunctionObject& object,
                       const std::string& result) {
  const std::string_view text = object.body.text;
  uint32_t at = 0;
  for (const Relocation& mark : object.body.marks) {
    out_ += text.substr(at, mark.offset - at);
    at = mark.offset;
    switch (mark.kind) {
      case MarkKind::kFunction:
        out_ += FunctionName(*entry.Of(ir::DeclId{mark.id}).ref);
        break;
      case MarkKind::kResult:
        out_ += result;
        break;
      case MarkKind::kTable:
        out_ += fmt::format("kiln__table_{}", TableNumber(ir::ConstId{mark.id}));
        break;
      case MarkKind::kOverride: {
        const auto option =
            std::ranges::find(in_.variant.specialization, mark.id, &ir::SpecConstant::id);
        KILN_CHECK(option != in_.variant.specialization.end(), "option {} is of no variant",
                   mark.id);
        out_ += LegalName(pool().Text(option->name));
        break;
      }
      default:  // conditions of RPL's modules, and what the function decided
        break;
    }
  }
  out_ += text.substr(at);
}

}  // namespace

std::string WriteTypedModule(const ModuleInputs& inputs, std::optional<uint32_t> entry) {
  return TypedWriter(inputs, entry).Run();
}

std::vector<Diagnostic> CheckBuffers(const ir::SpecialisedProgram& variant,
                                     std::span<const ModuleNeeds> needs, Types& types,
                                     layout::TypeLayouts& layouts) {
  std::vector<Diagnostic> found;
  HostStructs host(types, layouts);
  for (const ir::SpecialisedDecl* decl : variant.interface) {
    const bool used = std::ranges::any_of(
        needs, [&](const ModuleNeeds& one) { return one.Find(decl->decl) != nullptr; });
    if (used && IsBlock(*decl) && !host.Add(decl->type, layout::RulesOf(*decl))) {
      const std::string name(types.pool().Text(decl->name));
      found.push_back(Make(Code::kWgsl8202,
                           {.module = decl->origin.module, .span_number = decl->origin.span.value})
                          .With("op", fmt::format("layout of buffer '{}'", name)));
    }
  }
  return found;
}

}  // namespace kiln::wgsl
