// SPDX-License-Identifier: MIT
// One pass. Nothing in the text has a number of its own, so ids are given in the order in which
// names are met (NumberTable); what a region mentions is computed from its rows, as specialising
// does it.
#include "compiler/ir/text/parse_specialised.h"

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "compiler/ir/operands.h"
#include "compiler/ir/summary.h"
#include "compiler/ir/text/attribute_text.h"
#include "compiler/ir/text/parse_block.h"
#include "compiler/ir/text/spelling.h"
#include "compiler/ir/typing/typing.h"

namespace kiln::ir {
namespace {

constexpr uint32_t kMaxTypeDepth = 64;
constexpr std::string_view kUnnamed = "_";

// What may stand in an interface with a type.
bool IsVariable(DeclKind kind) {
  return kind == DeclKind::kBuffer || kind == DeclKind::kImage || kind == DeclKind::kWorkgroup ||
         kind == DeclKind::kPrivate;
}

// Numbers for the names of one kind, in the order of first mention.
class NumberTable {
 public:
  uint32_t Of(const std::string& key) {
    return *numbers_.Insert(key, static_cast<uint32_t>(numbers_.size())).first;
  }

 private:
  FlatMap<std::string, uint32_t> numbers_;
};

class VariantParser final : public RowSink {
 public:
  explicit VariantParser(std::string_view text) : scanner_(text) {
    parsed_.pool = std::make_unique<Pool>();
  }

  Result<ParsedVariant> Parse() {
    scanner_.Expect("variant");
    parsed_.variant.pool = parsed_.pool.get();
    parsed_.variant.pipeline = scanner_.ReadEnum<PipelineType>();
    while (!scanner_.AtEnd()) {
      ParseTop();
    }
    if (!scanner_.ok()) {
      return scanner_.error();
    }
    ListStructs();
    return std::move(parsed_);
  }

  // --- RowSink -----------------------------------------------------------------------------------
  Form form() const override { return Form::kSpecialised; }
  TypeId ReadType() override;
  ConstId ReadConst() override { return ReadConstValue(ReadType()); }
  StringId ReadText() override { return pool().InternText(scanner_.Quoted()); }
  DeclId ReadDecl() override { return ReadDeclName().first; }
  MemberId ReadMember(DeclId owner) override {
    return MemberId{members_.Of(fmt::format("{}.{}", owner.value, scanner_.ReadName().key))};
  }
  LocalId ReadLocal() override { return ReadLocalName().first; }
  CexprId ReadCexpr() override { return {}; }  // no specialised kind has one
  RegionId ReadRegion() override {
    return RegionId{regions_.Of(fmt::format("{}.{}", function_.value, scanner_.Word()))};
  }
  TypeId TypeOfConst(ConstId id) override { return pool()[id].type; }
  TypeId VoidType() override { return pool().void_type(); }
  ListId AddList(std::span<const uint32_t> words) override {
    const ListId id{static_cast<uint32_t>(region_->extra.size())};
    region_->extra.push_back(static_cast<uint32_t>(words.size()));
    region_->extra.insert(region_->extra.end(), words.begin(), words.end());
    return id;
  }
  BlockId BeginBlock() override {
    region_->blocks.push_back({});
    open_.push_back({BlockId{static_cast<uint32_t>(region_->blocks.size() - 1)}, {}});
    return open_.back().first;
  }
  void EndBlock() override {
    const auto [block, insts] = std::move(open_.back());
    open_.pop_back();
    region_->blocks[block.value] = {.first = static_cast<uint32_t>(region_->block_insts.size()),
                                    .count = static_cast<uint32_t>(insts.size())};
    region_->block_insts.insert(region_->block_insts.end(), insts.begin(), insts.end());
  }
  InstId AddInst(const Inst& inst) override {
    const auto number = static_cast<uint32_t>(region_->insts.size());
    region_->insts.push_back(inst);
    open_.back().second.push_back(number);
    return InstId{number};
  }

 private:
  Pool& pool() { return *parsed_.pool; }
  std::pair<DeclId, StringId> ReadDeclName() {
    scanner_.Expect("@");
    const TextScanner::Name name = scanner_.ReadName();
    return {DeclId{decls_.Of(name.key)}, pool().InternText(name.base)};
  }
  std::pair<LocalId, StringId> ReadLocalName() {
    scanner_.Expect("$");
    const TextScanner::Name name = scanner_.ReadName();
    return {LocalId{locals_.Of(fmt::format("{}.{}", function_.value, name.key))},
            name.key == kUnnamed ? StringId{} : pool().InternText(name.base)};
  }

  TypeId ReadBaseType();
  ConstId ReadConstValue(TypeId type);
  void ParseTop();
  void ParseStruct();
  std::vector<StringId> ParseTags();
  void ListStructs();
  bool IsHeld(TypeId type, TypeId by);
  void ParseDecl(DeclKind kind);
  std::vector<SpecialisedMember> ParseMembers(SpecialisedDecl& decl);
  void ReadForm(ShapeMember& member);
  std::vector<Attribute> Attributes(bool of_member, uint32_t owner);
  InterfaceRow ParseInterfaceRow();
  void DefineBlock(SpecialisedDecl& decl);
  void ParseSetting();
  void ParseUse();
  Bitset ParseLive();
  void ParseEntry();
  void ParseFunction(EntryRef& entry);
  const SpecialisedDecl* ParseSignature();
  const SpecialisedRegion* ParseRegion();
  std::optional<LocalKind> AcceptLocalKind();
  SpecialisedLocal ParseLocal(LocalKind kind);

  TextScanner scanner_;
  ParsedVariant parsed_;
  NumberTable decls_;
  NumberTable members_;
  NumberTable locals_;
  NumberTable regions_;
  FlatMap<std::string, TypeId> structs_;        // by key
  FlatMap<std::string, uint32_t> struct_uses_;  // by base
  std::vector<TypeId> named_structs_;
  std::vector<ShapeMember> shapes_;  // of the members that were read last
  DeclId function_;
  SpecialisedRegion* region_ = nullptr;
  std::vector<std::pair<BlockId, std::vector<uint32_t>>> open_;
};

// A struct may have the name of a leaf type (`f1`). The printer quotes such a name, and so only a
// word without quotes is tried as a leaf first.
TypeId VariantParser::ReadBaseType() {
  if (!scanner_.Peek("\"")) {
    TextScanner ahead = scanner_;
    if (const std::optional<Type> leaf = ParseLeaf(ahead.LeafWord());
        leaf && leaf->kind != TypeKind::kDeferred) {
      scanner_ = ahead;
      return pool().Intern(*leaf);
    }
  }
  const TypeId* type = structs_.Find(scanner_.ReadName().key);
  if (type == nullptr) {
    scanner_.Fail("no such type above");
  }
  return type != nullptr ? *type : pool().void_type();
}

TypeId VariantParser::ReadType() {
  TypeId type = ReadBaseType();
  for (uint32_t depth = 0; scanner_.ok(); ++depth) {
    if (depth > kMaxTypeDepth) {
      scanner_.Fail("nested too deep");
    }
    if (scanner_.Accept("...")) {
      type = pool().Intern({.kind = TypeKind::kRuntimeArray, .element = type.value});
      continue;
    }
    // Extents stand from the outermost to the innermost, as in `f1[2][3]`, and are applied from the
    // last on.
    std::vector<uint32_t> extents;
    while (scanner_.Accept("[") && extents.size() <= kMaxTypeDepth) {
      extents.push_back(scanner_.Number());
      scanner_.Expect("]");
    }
    if (extents.empty()) {
      break;
    }
    for (; !extents.empty(); extents.pop_back()) {
      type = pool().Intern(ArrayType(type, extents.back()));
    }
  }
  return type;
}

ConstId VariantParser::ReadConstValue(TypeId type) {
  if (!scanner_.Accept("{")) {
    const std::optional<uint64_t> bits = ParseBits(pool()[type].scalar, scanner_.ScalarWord());
    if (pool()[type].kind != TypeKind::kVector || pool()[type].rows != 1) {
      scanner_.Fail("expected '{'");
    }
    return pool().InternWide(type, scanner_.Known(bits));
  }
  std::vector<ConstId> parts;
  while (scanner_.ok() && !scanner_.Accept("}")) {
    if (!parts.empty()) {
      scanner_.Expect(",");
    }
    // The last check refuses a part that is its own whole, which a wrong type would ask for without
    // end.
    const std::optional<TypeId> part = PartType(pool(), type, static_cast<uint32_t>(parts.size()));
    if (!part || parts.size() >= PartCount(pool(), type) || *part == type) {
      scanner_.Fail("too many parts");
      break;
    }
    parts.push_back(ReadConstValue(*part));
  }
  if (parts.size() != PartCount(pool(), type)) {
    scanner_.Fail("too few parts");
  }
  return pool().InternComposite(type, parts);
}

void VariantParser::ParseTop() {
  const std::string_view word = scanner_.Word();
  if (word == "struct") {
    ParseStruct();
  } else if (word == "setting") {
    ParseSetting();
  } else if (word == "option") {
    ParseUse();
  } else if (word == "live") {
    parsed_.variant.live_options = ParseLive();
  } else if (word == "entry") {
    ParseEntry();
  } else {
    ParseDecl(scanner_.Known(FromName<DeclKind>(word)));
  }
}

void VariantParser::ParseStruct() {
  const TextScanner::Name name = scanner_.ReadName();
  auto record = std::make_unique<SpecialisedDecl>();
  record->name = pool().InternText(name.base);
  std::vector<ShapeMember> members;
  scanner_.Expect("{");
  while (scanner_.ok() && !scanner_.Accept("}")) {
    const StringId member = pool().InternText(scanner_.ReadName().base);
    scanner_.Expect(":");
    members.push_back({.name = member, .type = ReadType()});
    ReadForm(members.back());
    record->members.push_back({.name = member, .type = members.back().type, .tags = ParseTags()});
  }
  const TypeId type = pool().InternStruct(name.base, members);
  record->type = type;
  parsed_.structs.push_back(std::move(record));
  ++struct_uses_[name.base];
  named_structs_.push_back(type);
  if (!structs_.Insert(name.key, type).second) {
    scanner_.Fail("this struct is defined twice");
  }
}

void VariantParser::ReadForm(ShapeMember& member) {
  if (scanner_.AcceptKeyword("offset")) {
    member.offset = scanner_.Number();
  }
  member.order = scanner_.AcceptKeyword("row_major") ? MatrixOrder::kRow : MatrixOrder::kColumn;
  if (scanner_.AcceptKeyword("stride")) {
    member.stride = scanner_.Number();
  }
}

std::vector<Attribute> VariantParser::Attributes(bool of_member, uint32_t owner) {
  return ReadAttributes(scanner_, of_member, owner,
                        [this](std::string_view text) { return pool().InternText(text).value; });
}

std::vector<SpecialisedMember> VariantParser::ParseMembers(SpecialisedDecl& decl) {
  const DeclId owner = decl.decl;
  std::vector<SpecialisedMember> members;
  scanner_.Expect("{");
  while (scanner_.ok() && !scanner_.Accept("}")) {
    const TextScanner::Name name = scanner_.ReadName();
    SpecialisedMember member{.name = pool().InternText(name.base)};
    member.member = MemberId{members_.Of(fmt::format("{}.{}", owner.value, name.key))};
    scanner_.Expect(":");
    member.type = ReadType();
    ShapeMember shape{.name = member.name, .type = member.type};
    if (decl.kind != DeclKind::kContainer) {
      ReadForm(shape);
    }
    shapes_.push_back(shape);
    if (scanner_.Accept("pack")) {
      scanner_.Expect("(");
      std::tie(member.pack, member.pack_bits) = scanner_.ReadPack();
      scanner_.Expect(")");
    }
    member.tags = ParseTags();
    member.attributes = Attributes(true, member.member.value);
    members.push_back(std::move(member));
  }
  return members;
}

std::vector<StringId> VariantParser::ParseTags() {
  std::vector<StringId> tags;
  if (scanner_.Accept("tags")) {
    scanner_.Expect("(");
    do {
      tags.push_back(pool().InternText(scanner_.ReadName().base));
    } while (scanner_.Accept(","));
    scanner_.Expect(")");
  }
  return tags;
}

bool VariantParser::IsHeld(TypeId type, TypeId by) {
  while (pool()[by].kind == TypeKind::kArray || pool()[by].kind == TypeKind::kRuntimeArray) {
    by = TypeId{pool()[by].element};
  }
  return pool()[by].kind == TypeKind::kStruct &&
         (by == type || std::ranges::any_of(pool().Members(by), [&](const ShapeMember& member) {
            return IsHeld(type, member.type);
          }));
}

// Structs that only code uses have no record in a variant.
void VariantParser::ListStructs() {
  for (const std::unique_ptr<SpecialisedDecl>& record : parsed_.structs) {
    const bool held =
        std::ranges::any_of(parsed_.variant.interface, [&](const SpecialisedDecl* decl) {
          return std::ranges::any_of(decl->members, [&](const SpecialisedMember& member) {
            return IsHeld(record->type, member.type);
          });
        });
    if (held) {
      parsed_.variant.structs.push_back(record.get());
    }
  }
}

// Gives the block of a buffer its struct type and a name, as if it had been written as a struct.
void VariantParser::DefineBlock(SpecialisedDecl& decl) {
  const std::string base(pool().Text(decl.name));
  decl.type = pool().InternStruct(base, shapes_);
  if (std::ranges::find(named_structs_, decl.type) == named_structs_.end()) {
    const uint32_t use = ++struct_uses_[base];
    structs_.Insert(use == 1 ? base : fmt::format("{}#{}", base, use), decl.type);
    named_structs_.push_back(decl.type);
  }
}

void VariantParser::ParseDecl(DeclKind kind) {
  SpecialisedDecl decl{.kind = kind, .type = pool().void_type()};
  if (kind == DeclKind::kContainer) {
    decl.flags = static_cast<uint16_t>(scanner_.ReadEnum<ContainerKind>());
  } else if (kind == DeclKind::kBuffer) {
    decl.flags = static_cast<uint16_t>(scanner_.ReadEnum<BufferKind>());
  } else if (kind == DeclKind::kImage) {
    decl.flags = static_cast<uint16_t>(scanner_.ReadEnum<ImageAccess>());
  }
  if (kind == DeclKind::kBuffer || kind == DeclKind::kImage || kind == DeclKind::kSampler) {
    decl.flags |=
        static_cast<uint16_t>(static_cast<uint32_t>(scanner_.ReadEnum<ResourceSet>()) << 8);
  }
  std::tie(decl.decl, decl.name) = ReadDeclName();
  shapes_.clear();
  const bool typed = scanner_.Accept(":");
  if (typed) {
    decl.type = ReadType();
  } else if (kind == DeclKind::kSampler) {
    decl.type = pool().Intern({.kind = TypeKind::kSampler});
  }
  if (typed && kind == DeclKind::kPrivate && scanner_.Accept("=")) {
    decl.initial = ReadConst();
  }
  decl.attributes = Attributes(false, decl.decl.value);
  if (kind == DeclKind::kContainer || kind == DeclKind::kPushConstant ||
      (kind == DeclKind::kBuffer && !typed)) {
    decl.members = ParseMembers(decl);
    if (kind != DeclKind::kContainer) {
      DefineBlock(decl);
    }
  } else if (kind != DeclKind::kSampler && !(typed && IsVariable(kind))) {
    scanner_.Fail("not part of an interface");
  }
  parsed_.decls.push_back(std::make_unique<SpecialisedDecl>(std::move(decl)));
  parsed_.variant.interface.push_back(parsed_.decls.back().get());
}

void VariantParser::ParseSetting() {
  SpecialisedSetting setting{.name = scanner_.Quoted()};
  if (scanner_.Accept("block")) {
    setting.block = scanner_.Number();
  }
  scanner_.Expect("=");
  const auto kind = scanner_.ReadEnum<ValueKind>();
  setting.kind = static_cast<uint16_t>(kind);
  if (kind == ValueKind::kString) {
    setting.text = scanner_.Quoted();
  } else {
    setting.bits = scanner_.Known(ParseValue(kind, scanner_.ScalarWord()));
  }
  parsed_.settings.push_back(std::move(setting));
  parsed_.variant.settings = parsed_.settings;
}

void VariantParser::ParseUse() {
  OptionUse use{.scope = scanner_.ReadEnum<OptionScope>()};
  use.name = pool().InternText(scanner_.ReadName().base);
  scanner_.Expect(":");
  use.kind = scanner_.ReadEnum<OptionKind>();
  scanner_.Expect("=");
  if (use.kind == OptionKind::kEnum) {
    use.value = scanner_.Number();
    use.text = pool().InternText(scanner_.Quoted());
  } else {
    use.value = scanner_.Known(ParseValue(static_cast<ValueKind>(use.kind), scanner_.ScalarWord()));
  }
  for (uint32_t bit = 0; bit < CountOf<Influence>(); ++bit) {
    if (scanner_.Accept(kNames<Influence>[bit])) {
      use.influence |= static_cast<uint8_t>(1u << bit);
    }
  }
  parsed_.variant.option_uses.push_back(use);
}

Bitset VariantParser::ParseLive() {
  constexpr uint32_t kMostOptions = 1u << 16;
  const uint32_t size = scanner_.Number();
  if (size > kMostOptions) {
    scanner_.Fail("too many options");
    return {};
  }
  Bitset live(size);
  scanner_.Expect("[");
  while (scanner_.ok() && !scanner_.Accept("]")) {
    const uint32_t option = scanner_.Number();
    if (option < size) {
      live.Set(option);
    } else {
      scanner_.Fail("no such option");
    }
    if (!scanner_.Peek("]")) {
      scanner_.Expect(",");
    }
  }
  return live;
}

void VariantParser::ParseEntry() {
  EntryRef entry{.stage = scanner_.ReadEnum<Stage>(), .function = ReadDecl()};
  entry.name = pool().Text(ReadText());
  scanner_.Expect("{");
  if (scanner_.Accept("live")) {
    entry.live_options = ParseLive();
  }
  while (scanner_.Accept("io")) {
    entry.io.push_back(ParseInterfaceRow());
  }
  while (scanner_.ok() && !scanner_.Accept("}")) {
    scanner_.Expect("function");
    ParseFunction(entry);
  }
  parsed_.variant.entries.push_back(std::move(entry));
}

InterfaceRow VariantParser::ParseInterfaceRow() {
  InterfaceRow row{.direction = scanner_.ReadEnum<Direction>()};
  row.name = ReadText();
  scanner_.Expect(":");
  row.type = ReadType();
  row.attributes = Attributes(false, 0);
  return row;
}

const SpecialisedDecl* VariantParser::ParseSignature() {
  SpecialisedDecl decl{.kind = DeclKind::kFunction};
  decl.flags = scanner_.Accept("relaxed") ? 1 : 0;
  std::tie(decl.decl, decl.name) = ReadDeclName();
  function_ = decl.decl;
  scanner_.Expect("(");
  while (scanner_.ok() && !scanner_.Accept(")")) {
    if (!decl.members.empty()) {
      scanner_.Expect(",");
    }
    SpecialisedMember parameter{.access = scanner_.ReadEnum<Access>()};
    std::tie(parameter.local, parameter.name) = ReadLocalName();
    parameter.member =
        MemberId{members_.Of(fmt::format("{}.{}", decl.decl.value, parameter.local.value))};
    scanner_.Expect(":");
    parameter.type = ReadType();
    parameter.attributes = Attributes(true, parameter.member.value);
    decl.members.push_back(std::move(parameter));
  }
  scanner_.Expect("->");
  decl.type = ReadType();
  decl.attributes = Attributes(false, decl.decl.value);
  parsed_.decls.push_back(std::make_unique<SpecialisedDecl>(std::move(decl)));
  return parsed_.decls.back().get();
}

void VariantParser::ParseFunction(EntryRef& entry) {
  const SpecialisedDecl* signature = ParseSignature();
  FunctionRef function{.number = static_cast<uint32_t>(parsed_.functions.size()),
                       .function = signature->decl,
                       .signature = signature,
                       .stage = entry.stage};
  if (scanner_.Accept("in")) {
    function.stage_sensitive = true;
    function.stage = scanner_.ReadEnum<Stage>();
  }
  scanner_.Expect("{");
  const bool is_entry = signature->decl == entry.function;
  while (scanner_.ok() && !scanner_.Accept("}")) {
    RegionRef ref{.specialised = ParseRegion()};
    if (is_entry) {
      region_->io = entry.io;  // whatever returns stores the outputs
    }
    ref.region = ref.specialised->id;
    // An insertion point stands in the text of a region before the region that fills it, so the
    // parent is among those that were read.
    for (uint32_t i = 0; i < function.regions.size(); ++i) {
      if (std::ranges::find(function.regions[i].specialised->insertion_points, ref.region) !=
          function.regions[i].specialised->insertion_points.end()) {
        ref.parent = i;
      }
    }
    function.regions.push_back(ref);
  }
  parsed_.functions.push_back(std::make_unique<FunctionRef>(std::move(function)));
  entry.functions.push_back(parsed_.functions.back().get());
}

const SpecialisedRegion* VariantParser::ParseRegion() {
  scanner_.Expect("region");
  parsed_.regions.push_back(std::make_unique<SpecialisedRegion>());
  region_ = parsed_.regions.back().get();
  region_->id = ReadRegion();
  region_->function = function_;
  scanner_.Expect("{");
  while (const std::optional<LocalKind> kind = AcceptLocalKind()) {
    region_->locals.push_back(ParseLocal(*kind));
  }
  region_->body = BeginBlock();
  BlockParser(scanner_, *this).ParseStatements();
  EndBlock();
  scanner_.Expect("}");
  region_->spans.resize(region_->insts.size());
  if (scanner_.ok()) {
    Summarise(*region_);
  }
  return region_;
}

// No instruction without a result has the name of a kind of local.
std::optional<LocalKind> VariantParser::AcceptLocalKind() {
  for (const LocalKind kind : {LocalKind::kParameter, LocalKind::kVariable, LocalKind::kLoopExit,
                               LocalKind::kSwitchExit}) {
    if (scanner_.Accept(NameOf(kind))) {
      return kind;
    }
  }
  return std::nullopt;
}

SpecialisedLocal VariantParser::ParseLocal(LocalKind kind) {
  SpecialisedLocal local{.kind = kind, .type = pool().void_type()};
  if (kind == LocalKind::kParameter) {
    local.access = scanner_.ReadEnum<Access>();
  }
  std::tie(local.local, local.name) = ReadLocalName();
  if (IsExit(kind)) {
    local.name = {};
  } else {
    scanner_.Expect(":");
    local.type = ReadType();
  }
  return local;
}

}  // namespace

Result<ParsedVariant> ParseVariant(std::string_view text) { return VariantParser(text).Parse(); }

}  // namespace kiln::ir
