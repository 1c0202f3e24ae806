// SPDX-License-Identifier: MIT
#include "compiler/resolve/checks/spirv_limits.h"

#include <algorithm>
#include <string>

#include "compiler/base/threads/stop.h"
#include "compiler/ir/operands.h"

namespace kiln::resolve {
namespace {

// SPIR-V 1.6, 2.16 "Universal Limits".
constexpr uint32_t kMostMembers = 16'383;       // of a struct
constexpr uint32_t kMostLabels = 16'383;        // of a switch
constexpr uint32_t kMostParameters = 255;       // of a function
constexpr uint32_t kMostConstituents = 65'532;  // 65,535 words less opcode, type and result

// Looks for the first excess of each kind; a second of one kind says nothing new.
class SpirvLimits {
 public:
  explicit SpirvLimits(RegionBuilder& region) : region_(region) {}

  bool Run() {
    const ir::SpecialisedRegion& out = region_.out();
    if (!region_.generic().parent.valid()) {
      CheckSignature();
    }
    for (const ir::SpecialisedLocal& local : out.locals) {
      if (!ir::IsExit(local.kind)) {
        CheckType(local.type, NameOfFunction());
      }
    }
    for (uint32_t row = 0; row < out.insts.size(); ++row) {
      CheckStop();
      CheckRow(row, out.insts[row]);
    }
    return fits_;
  }

 private:
  void CheckSignature() {
    const ir::SpecialisedDecl& signature = *region_.signature();
    if (signature.members.size() > kMostParameters) {
      Report(NameOfFunction(),
             "function '" + std::string(region_.pool().Text(signature.name)) + "'", "parameters",
             kMostParameters);
    }
    CheckType(signature.type, NameOfFunction());
  }

  void CheckRow(uint32_t row, const ir::Inst& inst) {
    const ir::ResultSchema result = ir::FactsOf(inst.kind).result;
    if (result != ir::ResultSchema::kVoid && inst.type.valid()) {
      CheckType(inst.type, At(row));
    }
    // A value is put together by one instruction. So is what a place of a constant begins with;
    // other places are never put together as a whole.
    if ((result == ir::ResultSchema::kValue || inst.kind == ir::InstKind::kConstPlace) &&
        inst.type.valid() && !said_items_ && WidthOf(inst.type).items > kMostConstituents) {
      said_items_ = true;
      Report(At(row), "value", "items in an array", kMostConstituents);
    }
    if (inst.kind == ir::InstKind::kSwitch && !said_labels_) {
      size_t labels = 0;
      ir::ForEachCase(region_.out().List(inst.As<ir::SwitchInst>().cases),
                      [&](const ir::SwitchCase& one) { labels += one.labels.size(); });
      if (labels > kMostLabels) {
        said_labels_ = true;
        Report(At(row), "switch", "labels", kMostLabels);
      }
    }
  }

  void CheckType(ir::TypeId type, const Location& where) {
    if (!said_members_ && WidthOf(type).members > kMostMembers) {
      said_members_ = true;
      Report(where, "struct in '" + region_.TypeName(type) + "'", "members", kMostMembers);
    }
  }

  // As deep as types nest. The members of a last struct that ends in a runtime array stand in the
  // place of that struct, as emission has it in blocks.
  SpecialiserScratch::TypeWidth WidthOf(ir::TypeId id) {
    std::vector<SpecialiserScratch::TypeWidth>& known = region_.scratch().widths;
    if (id.value < known.size() && known[id.value].known) {
      return known[id.value];
    }
    const ir::Type type = region_.pool()[id];
    SpecialiserScratch::TypeWidth width;
    if (type.kind == ir::TypeKind::kArray || type.kind == ir::TypeKind::kRuntimeArray) {
      width = WidthOf(ir::TypeId{type.element});
      width.own = 0;
      if (type.kind == ir::TypeKind::kArray) {
        width.items = std::max(width.items, type.extent);
      }
      width.ends_open = type.kind == ir::TypeKind::kRuntimeArray;
    } else if (type.kind == ir::TypeKind::kStruct) {
      const std::span<const ir::ShapeMember> members = region_.pool().Members(id);
      width.own = static_cast<uint32_t>(members.size());
      for (size_t i = 0; i < members.size(); ++i) {
        const SpecialiserScratch::TypeWidth part = WidthOf(members[i].type);
        width.members = std::max(width.members, part.members);
        width.items = std::max(width.items, part.items);
        if (i + 1 == members.size() && part.ends_open) {
          width.ends_open = true;
          width.own += part.own;
        }
      }
      width.members = std::max(width.members, width.own);
    }
    width.known = true;
    if (id.value >= known.size()) {
      known.resize(id.value + size_t{1});
    }
    known[id.value] = width;
    return width;
  }

  void Report(const Location& where, const std::string& what, std::string_view parts,
              uint32_t limit) {
    fits_ = false;
    region_.Report(
        Make(Code::kLim1001, where).With("what", what).With("parts", parts).With("limit", limit));
  }

  Location At(uint32_t row) const {
    const std::vector<ir::SpanId>& spans = region_.out().spans;
    return region_.At(row < spans.size() ? spans[row] : ir::SpanId{});
  }
  Location NameOfFunction() const { return region_.program().NameLocation(region_.out().function); }

  RegionBuilder& region_;
  bool fits_ = true;
  bool said_items_ = false, said_labels_ = false, said_members_ = false;
};

}  // namespace

bool CheckSpirvLimits(RegionBuilder& region) { return SpirvLimits(region).Run(); }

}  // namespace kiln::resolve
