// SPDX-License-Identifier: MIT
#include "compiler/layout/engine/faults.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "compiler/base/check.h"
#include "compiler/layout/engine/wgsl_checks.h"

namespace kiln::layout {
namespace {

// Sizes and offsets are stored in 32 bits (spec/layout 4.9).
constexpr uint64_t kMaxSize = 0xffffffffu;
// Limits of the targets in bytes, where the request sets no other: spec/layout 4.9.
constexpr uint32_t kRplUniformLimit = 16384;
constexpr uint32_t kUniformLimit = 65536;
constexpr uint32_t kPushLimit = 128;
constexpr uint32_t kImmediateLimit = 64;

// Loose globals have no block that could be named.
// What the author calls a member: the block, a dot, the path in it.
std::string NameBelow(const CheckedBlock& block, const std::string& path) {
  if (path.empty()) {
    return std::string(block.name);
  }
  return block.loose || block.name.empty() ? path : fmt::format("{}.{}", block.name, path);
}

// Follows a fault down to the member that causes it. Layouts carry only that something below is
// broken, which keeps them small; who has to say where walks the type again, with the same steps as
// ByteLayouts::ComputeStruct, until a type has a fault and none of its parts has.
// One use explains one fault. It costs a walk over the members on the way to it, and is only
// made where there is a fault.
class Explainer {
 public:
  Explainer(ByteLayouts& bytes, const CheckedBlock& block)
      : bytes_(bytes), types_(bytes.types()), block_(block), traits_(TraitsOf(block.rules)) {}

  FaultPlace Run() {
    Look(block_.content, bytes_.order(), "");
    found_.path = path_;
    return std::move(found_);
  }

 private:
  // Requires: the type has a fault under the rules of the block. Each step goes to a part that
  // has one too, so it ends at a type whose parts are good.
  void Look(TypeId id, MatrixOrder order, const std::string& path) {
    path_ = path;
    const Type& type = types_[id];
    if (IsArray(type)) {
      Array(type, order, path);
    } else if (type.kind == TypeKind::kStruct && type.path_count <= kMaxPaths) {
      Members(id, path);
    } else {
      // A type that is not known yet, or one without an end.
      const bool generic = type.kind == TypeKind::kGeneric;
      Set(Make(generic ? Code::kLay1002 : Code::kLay1001, block_.where));
    }
  }

  const TypeLayout& LayoutOf(TypeId type, MatrixOrder order) {
    return bytes_.Of(Member{.type = type, .order = order}, block_.rules);
  }

  // An array is at fault by its element, by an end that it does not have, by its stride or by
  // its size.
  void Array(const Type& type, MatrixOrder order, const std::string& path) {
    const TypeLayout& element = LayoutOf(type.element, order);
    if (element.fault != TypeFault::kNone) {
      // Nested arrays are one step in the path: `[0]` stands for the item at the bottom.
      Look(type.element, order, IsArray(types_[type.element]) ? path : path + "[0]");
      return;
    }
    const bool unsized = type.kind == TypeKind::kRuntimeArray;
    if (element.unsized || (unsized && traits_.register_lines)) {
      Set(Make(Code::kLay1006, block_.where));
    } else if (type.stride != 0 && FaultOf(type, order) == TypeFault::kStride) {
      Set(Make(Code::kLay1005, block_.where).With("stride", type.stride));
    } else {
      Set(Make(Code::kLay1001, block_.where));
    }
  }

  // A written stride is wrong if items would overlap or leave their alignment; otherwise the array
  // is just too large. Scalar rules give the alignment that every rule set keeps at least.
  TypeFault FaultOf(const Type& array, MatrixOrder order) {
    const TypeLayout& element = LayoutOf(array.element, order);
    const uint32_t unit =
        bytes_.Of(Member{.type = array.element, .order = order}, Rules::kScalar).alignment;
    return array.stride % unit != 0 || array.stride < element.size ? TypeFault::kStride
                                                                   : TypeFault::kTooLarge;
  }

  void Members(TypeId id, const std::string& path);
  void Shared(std::span<const Member> members, const std::string& path);

  // The name is the path that was walked so far.
  void Set(Diagnostic diagnostic) {
    found_.diagnostic = std::move(diagnostic).With("name", NameBelow(block_, path_));
  }

  ByteLayouts& bytes_;
  const Types& types_;
  const CheckedBlock& block_;
  const RuleTraits& traits_;
  std::string path_;  // of what is being looked at
  FaultPlace found_;
};

// The same walk as that of the layout, so it stops at the same member.
void Explainer::Members(TypeId id, const std::string& path) {
  const std::span<const Member> members = types_.Members(id);
  const auto path_of = [&](const Member& member) {
    return path.empty() ? std::string(member.name) : fmt::format("{}.{}", path, member.name);
  };
  const Member* tail = nullptr;
  uint64_t end = 0;
  for (size_t i = 0; i < members.size(); ++i) {
    const Member& member = members[i];
    const TypeLayout& layout = bytes_.Of(member, block_.rules);
    // Only the member of the outermost struct is remembered: that is what has a place in the
    // source.
    if (path.empty()) {
      found_.member = static_cast<uint32_t>(i);
    }
    path_ = path_of(member);
    if (layout.fault != TypeFault::kNone) {
      if (types_[member.type].kind == TypeKind::kMatrix) {
        Set(Make(Code::kLay1005, block_.where).With("stride", types_[member.type].stride));
      } else {
        Look(member.type, bytes_.OrderOf(member), path_);
      }
      return;
    }
    // A member without bytes takes no place and breaks no rule.
    if (layout.size == 0 && member.size == 0 && !layout.unsized) {
      continue;
    }
    // Nothing may follow an array without an end; the message is about that array.
    if (tail != nullptr) {
      path_ = path_of(*tail);
      Set(Make(Code::kLay1006, block_.where));
      return;
    }
    const MemberPlacing placing = PlaceMember(types_[member.type], member, layout, end, traits_);
    if (!placing.legal) {
      Set(Make(Code::kLay1003, block_.where)
              .With("offset", placing.offset)
              .With("align", placing.alignment));
      return;
    }
    if (placing.size > kMaxSize || placing.offset > kMaxSize ||
        placing.offset + placing.size > kMaxSize) {
      Set(Make(Code::kLay1001, block_.where));
      return;
    }
    end = placing.offset + placing.size;
    tail = layout.unsized ? &member : nullptr;
  }
  Shared(members, path);
}

// Every member is fine alone: two share a byte, or the rounded size is too large.
void Explainer::Shared(std::span<const Member> members, const std::string& path) {
  struct Range {
    uint64_t begin = 0;
    uint64_t end = 0;
    size_t member = 0;
  };
  std::vector<Range> ranges;
  uint64_t end = 0;
  for (size_t i = 0; i < members.size(); ++i) {
    const TypeLayout& layout = bytes_.Of(members[i], block_.rules);
    if (layout.size == 0 && members[i].size == 0 && !layout.unsized) {
      continue;
    }
    // The same places as above, computed again: most blocks have no fault, and nothing is kept for
    // them.
    const MemberPlacing placing =
        PlaceMember(types_[members[i].type], members[i], layout, end, traits_);
    end = placing.offset + placing.size;
    ranges.push_back({.begin = placing.offset, .end = end, .member = i});
  }
  // Sorted by place, so only neighbours can overlap. Stable, so that of members at one place the
  // earlier one stays first.
  std::ranges::stable_sort(ranges, {}, &Range::begin);
  for (size_t i = 1; i < ranges.size(); ++i) {
    if (ranges[i].begin < ranges[i - 1].end) {
      const size_t later = std::max(ranges[i].member, ranges[i - 1].member);
      const size_t earlier = std::min(ranges[i].member, ranges[i - 1].member);
      const std::string prefix = path.empty() ? "" : path + ".";
      path_ = prefix + std::string(members[later].name);
      Set(Make(Code::kLay1004, block_.where)
              .With("other", NameBelow(block_, prefix + std::string(members[earlier].name)))
              .With("offset", ranges[i].begin));
      if (path.empty()) {
        found_.member = static_cast<uint32_t>(later);
      }
      return;
    }
  }
  // No two members share a byte: the size that was rounded up is the fault of the struct as a
  // whole.
  path_ = path;
  if (path.empty()) {
    found_.member = Finding::kNone;
  }
  Set(Make(Code::kLay1001, block_.where));
}

// Reports what is wrong with one block. Blocks without a fault are compared with limits.
class BlockCheck {
 public:
  BlockCheck(const Program& program, ByteLayouts& bytes, const CheckedBlock& block, uint32_t order,
             const Item* item, Findings& findings)
      : program_(program),
        bytes_(bytes),
        types_(bytes.types()),
        block_(block),
        order_(order),
        item_(item),
        findings_(findings) {}

  void Run() {
    const TypeLayout& layout = bytes_.Of(block_.content, block_.rules);
    if (layout.fault != TypeFault::kNone) {
      Fault();
      return;
    }
    // An array without an end needs a buffer whose size the engine chooses. RPL and the other
    // languages have codes of their own for it.
    if (layout.unsized && block_.use != BlockUse::kStorage && program_.policy == Policy::kRpl) {
      const bool push = block_.use == BlockUse::kPush;
      Add(Make(Code::kRpl4052, block_.where)
              .With("kind", push ? "push constant" : "uniform buffer")
              .With("owner", block_.name)
              .With("path", TailPath()));
      return;
    }
    if (layout.unsized && block_.use != BlockUse::kStorage) {
      Add(Make(Code::kLay1006, block_.where).With("name", NameBelow(block_, TailPath())));
      return;
    }
    Limit(layout.size);
    if (program_.platform == Platform::kWebgpu && program_.policy == Policy::kFirstFit) {
      Wgsl();
    }
  }

 private:
  void Fault();
  void Limit(uint64_t size);
  void Wgsl();
  std::string TailPath() const;
  bool Immediate() const {
    return block_.use == BlockUse::kPush && program_.platform == Platform::kWebgpu &&
           program_.settings.webgpu_push == WebgpuPush::kImmediate;
  }
  void Add(Diagnostic diagnostic, uint32_t member = Finding::kNone) {
    findings_.Add(std::move(diagnostic), order_, item_, member);
  }

  const Program& program_;
  ByteLayouts& bytes_;
  const Types& types_;
  const CheckedBlock& block_;
  uint32_t order_;
  const Item* item_;
  Findings& findings_;
};

// The code depends on the language: RPL has messages of its own for what the engine calls by
// one code.
void BlockCheck::Fault() {
  FaultPlace found = ExplainFault(bytes_, block_);
  if (program_.policy == Policy::kRpl && found.diagnostic.code == Code::kLay1006) {
    Add(Make(Code::kRpl4051, block_.where).With("path", found.path).With("owner", block_.name),
        found.member);
    return;
  }
  if (program_.policy == Policy::kRpl) {
    std::string_view name = block_.name;
    // RPL has one code for everything that is too large, with the name of the outermost member.
    if (found.member != Finding::kNone) {
      name = types_.Members(block_.content)[found.member].name;
    }
    Add(Make(Code::kRpl4003, block_.where).With("name", name), found.member);
    return;
  }
  Add(std::move(found.diagnostic), found.member);
}

// Limits of targets (spec/layout 4.9), which the layout itself does not need.
void BlockCheck::Limit(uint64_t size) {
  const Settings& settings = program_.settings;
  const bool rpl = program_.policy == Policy::kRpl;
  // On D3D a push constant is an ordinary constant buffer, so it has the limit of one.
  const bool push = block_.use == BlockUse::kPush &&
                    (rpl || Immediate() || program_.platform == Platform::kVulkan);
  // Storage buffers may be as large as they like.
  if (!push && block_.use != BlockUse::kUniform && block_.use != BlockUse::kPush) {
    return;
  }
  // RPL has a smaller limit for uniform buffers, so that a program runs on every device.
  uint64_t limit = push ? settings.push_limit.value_or(kPushLimit)
                        : settings.uniform_limit.value_or(rpl ? kRplUniformLimit : kUniformLimit);
  if (Immediate()) {
    limit = std::min<uint64_t>(limit, kImmediateLimit);
    if (HasArray(types_, block_.content)) {
      Add(Make(Code::kLay3002, block_.where)
              .With("target", "webgpu")
              .With("what", "arrays in immediate data")
              .With("name", block_.name));
    }
  }
  if (size <= limit) {
    return;
  }
  if (rpl && !Immediate()) {
    Add(Make(Code::kRpl4053, block_.where)
            .With("kind", push ? "push constant" : "uniform buffer")
            .With("owner", block_.name)
            .With("size", size)
            .With("limit", limit));
    return;
  }
  Add(Make(Code::kLay3001, block_.where)
          .With("name", block_.name)
          .With("found", size)
          .With("unit", "bytes")
          .With("target", PlatformName(program_.platform))
          .With("limit", limit));
}

// First what no declaration can say, then what a uniform buffer may not hold. The second is a
// warning, so one of its reasons is enough.
void BlockCheck::Wgsl() {
  const std::optional<WgslIssue> issue = FindNotExpressible(bytes_, block_.content, block_.rules);
  if (issue) {
    Add(Make(Code::kLay3004, block_.where)
            .With("name", block_.name)
            .With("path", issue->path)
            .With("reason", issue->reason));
    return;
  }
  if (block_.use != BlockUse::kUniform && block_.use != BlockUse::kPush) {
    return;
  }
  const std::vector<WgslIssue> issues = UniformIssues(bytes_, block_.content, block_.rules);
  if (!issues.empty() && !Immediate()) {
    Add(Make(Code::kLay3005, block_.where)
            .With("name", block_.name)
            .With("path", issues.front().path)
            .With("reason", issues.front().reason));
  }
}

// Only asked for a block that ends in an array without an end.
std::string BlockCheck::TailPath() const {
  std::string path;
  // Follows the last members down to the array without an end.
  TypeId type = block_.content;
  while (types_[type].kind == TypeKind::kStruct) {
    const std::span<const Member> members = types_.Members(type);
    const auto tail = std::ranges::find_if(
        members, [&](const Member& member) { return bytes_.Of(member, block_.rules).unsized; });
    if (tail == members.end()) {
      break;
    }
    path += (path.empty() ? "" : ".") + std::string(tail->name);
    type = tail->type;
  }
  return path;
}

}  // namespace

// Requires: the content of the block has a fault.
FaultPlace ExplainFault(ByteLayouts& bytes, const CheckedBlock& block) {
  return Explainer(bytes, block).Run();
}

void CheckBlock(const Program& program, ByteLayouts& bytes, const CheckedBlock& block,
                uint32_t order, const Item* item, Findings& findings) {
  BlockCheck(program, bytes, block, order, item, findings).Run();
}

}  // namespace kiln::layout
