// SPDX-License-Identifier: MIT
#include "compiler/layout/engine/global_order.h"

#include <algorithm>

#include "compiler/base/flat_map.h"
#include "compiler/layout/engine/written.h"

namespace kiln::layout {
namespace {

// What two types must have in common to be equal, without what they are made of.
bool SameFacts(const Type& a, const Type& b) {
  // Names are compared too, although types are structural: two units mean the same struct by one
  // name.
  return a.kind == b.kind && a.scalar == b.scalar && a.rows == b.rows && a.columns == b.columns &&
         a.resource == b.resource && a.extent == b.extent && a.stride == b.stride &&
         a.name == b.name && a.member_count == b.member_count &&
         a.element.valid() == b.element.valid();
}

// Types of members are compared apart, one level further down.
bool SameField(const Member& a, const Member& b) {
  return a.name == b.name && a.order == b.order && a.offset == b.offset && a.size == b.size &&
         a.alignment == b.alignment;
}

// Parameters in the order in which they are numbered: units of the program, then imported ones,
// each in the order of its declarations. A parameter that several units declare is one item, at its
// first place, if its types are equal; the uniform parameters of an entry point come behind the
// globals of its unit, their loose bytes gathered in one buffer.
class Walk {
 public:
  Walk(const Program& program, Types& types, Findings& findings)
      : program_(program), types_(types), findings_(findings) {}

  GlobalOrder Run() {
    for (const bool imported : {false, true}) {
      for (uint32_t unit = 0; unit < program_.units.size(); ++unit) {
        if (program_.units[unit].imported == imported) {
          Unit(unit);
        }
      }
    }
    return std::move(out_);
  }

 private:
  void Unit(uint32_t unit);
  void Global(uint32_t unit, uint32_t ordinal);
  // The declaration of a parameter that another unit has, too.
  void Collapse(uint32_t first, uint32_t unit, uint32_t ordinal);
  void Merge(uint32_t order, const Item& other);
  void Entry(uint32_t unit, const EntryPoint& entry);
  void Gather(uint32_t unit, const EntryPoint& entry);
  Item Read(const Parameter& parameter, uint32_t unit, uint32_t ordinal, uint32_t order);
  bool HasGlobalPush() const;

  const Program& program_;
  Types& types_;
  Findings& findings_;
  GlobalOrder out_;
  FlatMap<std::string_view, uint32_t> globals_;  // of units: name to item
};

void Walk::Unit(uint32_t unit) {
  const layout::Unit& row = program_.units[unit];
  std::vector<uint32_t> order(row.parameters.size());
  for (uint32_t i = 0; i < order.size(); ++i) {
    order[i] = i;
  }
  // By group, and inside of a group in the order of the source: the sort is stable (spec/layout
  // 7.4).
  if (program_.policy == Policy::kRpl) {
    std::ranges::stable_sort(order, {}, [&](uint32_t i) { return row.parameters[i].group; });
  }
  for (const uint32_t ordinal : order) {
    Global(unit, ordinal);
  }
  for (const EntryPoint& entry : row.entry_points) {
    Entry(unit, entry);
  }
}

Item Walk::Read(const Parameter& parameter, uint32_t unit, uint32_t ordinal, uint32_t order) {
  Item item{.parameter = &parameter, .unit = unit, .ordinal = ordinal};
  // RPL has no written numbers.
  if (program_.policy == Policy::kFirstFit) {
    ReadWritten(program_, types_, order, item, findings_);
  }
  return item;
}

void Walk::Global(uint32_t unit, uint32_t ordinal) {
  const Parameter& parameter = program_.units[unit].parameters[ordinal];
  const auto next = static_cast<uint32_t>(out_.items.size());
  // Only globals of units can be one parameter; imported modules keep theirs (spec/layout 6.2).
  if (program_.policy == Policy::kFirstFit && !program_.units[unit].imported) {
    // The first declaration has the place, wherever the others stand.
    const auto [first, added] = globals_.Insert(parameter.name, next);
    if (!added) {
      Collapse(*first, unit, ordinal);
      return;
    }
  }
  out_.items.push_back(Read(parameter, unit, ordinal, next));
}

void Walk::Collapse(uint32_t first, uint32_t unit, uint32_t ordinal) {
  const Parameter& parameter = program_.units[unit].parameters[ordinal];
  const Parameter& known = *out_.items[first].parameter;
  std::optional<std::string> path = DifferAt(types_, known.type, parameter.type, parameter.name);
  // Equal types in different roles are bound differently.
  if (!path && known.role != parameter.role) {
    path = std::string(parameter.name);
  }
  if (path) {
    findings_.Add(Make(Code::kLay2003, parameter.where)
                      .With("name", parameter.name)
                      .With("path", *path)
                      .Label(LabelKind::kOtherHere, known.where),
                  first, &out_.items[first]);
    return;
  }
  Merge(first, Read(parameter, unit, ordinal, first));
}

// What either declaration writes counts for both; what both write must be equal.
void Walk::Merge(uint32_t order, const Item& other) {
  Item& item = out_.items[order];
  for (const WrittenNumber& written : other.written) {
    const auto known = std::ranges::find_if(
        item.written, [&](const WrittenNumber& w) { return w.kind == written.kind; });
    if (known == item.written.end()) {
      item.written.push_back(written);
    } else if (*known != written) {
      const auto text = [&](const WrittenNumber& w) {
        return PlaceInMessage(program_.platform,
                              {.kind = w.kind,
                               .space = w.space,
                               .index = w.kind == Kind::kSpace ? w.space : w.index});
      };
      findings_.Add(Make(Code::kLay2002, other.parameter->where)
                        .With("name", other.parameter->name)
                        .With("place", text(*known))
                        .With("other_place", text(written))
                        .Label(LabelKind::kOtherHere, item.parameter->where),
                    order, &item);
    }
  }
  // Written once is enough.
  item.counter = item.counter ? item.counter : other.counter;
  item.member_offset = item.member_offset ? item.member_offset : other.member_offset;
}

bool Walk::HasGlobalPush() const {
  return std::ranges::any_of(program_.units, [](const layout::Unit& unit) {
    return std::ranges::any_of(
        unit.parameters, [](const Parameter& parameter) { return parameter.role == Role::kPush; });
  });
}

void Walk::Entry(uint32_t unit, const EntryPoint& entry) {
  Gather(unit, entry);
  for (const EntryParameter& parameter : entry.parameters) {
    if (parameter.uniform) {
      const auto next = static_cast<uint32_t>(out_.items.size());
      Item item = Read(*parameter.uniform, unit, Finding::kNone, next);
      // Its loose bytes are in the gathered buffer; what is left are its resources.
      item.bytes_elsewhere = true;
      out_.items.push_back(std::move(item));
    }
  }
}

// Loose bytes of the uniform parameters: one struct, in a push constant or a constant buffer.
void Walk::Gather(uint32_t unit, const EntryPoint& entry) {
  std::vector<Member> members;
  for (const EntryParameter& parameter : entry.parameters) {
    if (parameter.uniform && types_[parameter.uniform->type].has_bytes) {
      members.push_back({.name = parameter.uniform->name, .type = parameter.uniform->type});
    }
  }
  if (members.empty()) {
    return;
  }
  // The name has characters that no identifier has, so no parameter can be called so.
  const std::string_view name = types_.Keep("<" + std::string(entry.name) + ">");
  // A program has one push constant at a time: one of its own goes before that of an entry point
  // (spec/layout 8.2).
  const bool push = program_.platform == Platform::kVulkan && !HasGlobalPush();
  const TypeId content = types_.Struct(name, members);
  out_.gathered.push_back({.name = name,
                           .type = types_.ConstantBuffer(
                               types_.Keep("ConstantBuffer<" + std::string(name) + ">"), content),
                           .role = push ? Role::kPush : Role::kResource,
                           .where = entry.where});
  const auto next = static_cast<uint32_t>(out_.items.size());
  out_.items.push_back(Read(out_.gathered.back(), unit, Finding::kNone, next));
}

}  // namespace

GlobalOrder OrderParameters(const Program& program, Types& types, Findings& findings) {
  return Walk(program, types, findings).Run();
}

// The first path at which two types differ, for the message; nothing if they are equal. Structural,
// since each unit brings types of its own. Types are finite and their depth is bounded.
std::optional<std::string> DifferAt(const Types& types, TypeId a, TypeId b, std::string_view name) {
  if (a == b) {
    return std::nullopt;
  }
  if (!SameFacts(types[a], types[b])) {
    return std::string(name);
  }
  // Element and members exclude each other.
  if (types[a].element.valid()) {
    return DifferAt(types, types[a].element, types[b].element, name);
  }
  const std::span<const Member> left = types.Members(a);
  const std::span<const Member> right = types.Members(b);
  for (size_t i = 0; i < left.size(); ++i) {
    const std::string path = std::string(name) + "." + std::string(right[i].name);
    if (!SameField(left[i], right[i])) {
      return path;
    }
    if (std::optional<std::string> found = DifferAt(types, left[i].type, right[i].type, path)) {
      return found;
    }
  }
  return std::nullopt;
}

void Findings::Add(Diagnostic diagnostic, uint32_t order, const Item* item, uint32_t member) {
  Finding finding{.diagnostic = std::move(diagnostic), .order = order, .member = member};
  if (item != nullptr) {
    finding.unit = item->unit;
    finding.parameter = item->ordinal;
  }
  findings_.push_back(std::move(finding));
}

// In the order of the parameters, whatever step found it; the sort is stable, so findings of one
// parameter stay in the order of the steps. Only errors count towards the limit.
std::vector<Finding> Findings::Take() {
  std::ranges::stable_sort(findings_, {}, &Finding::order);
  size_t errors = 0;
  std::erase_if(findings_, [&](const Finding& finding) {
    return finding.diagnostic.severity == Severity::kError && ++errors > kMaxErrors;
  });
  return std::move(findings_);
}

}  // namespace kiln::layout
