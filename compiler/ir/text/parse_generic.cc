// SPDX-License-Identifier: MIT
// Reads into a builder, so rows come out as a front end would give them, and functions are cut
// anew. The locals of a function stand before its instructions, because an instruction may list one
// as a candidate above the statement that declares it.
#include "compiler/ir/text/parse_generic.h"

#include <algorithm>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "compiler/ir/text/attribute_text.h"
#include "compiler/ir/text/parse_block.h"
#include "compiler/ir/text/spelling.h"

namespace kiln::ir {
namespace {

constexpr uint32_t kMaxTypeDepth = 64;

// The parser calls the builder exactly as a front end would, in source order. Rows that a text of
// the printer gives are therefore numbered as they were before, and a round trip can be compared
// byte by byte.
class OpenParser final : public RowSink {
 public:
  OpenParser(TextScanner scanner, const ModuleHeader& header, CutPolicy policy)
      : scanner_(std::move(scanner)), builder_(header, policy), typed_(header.typed != 0) {
    // Row 0 is the constant `true` of every module; it is not printed and has to be known without a
    // row in the text.
    cexprs_.Insert(0, kTrue);
  }

  Result<Module> Parse() {
    while (!scanner_.AtEnd()) {
      if (scanner_.Accept("option")) {
        ParseOption();
      } else if (scanner_.Accept("cexpr")) {
        ParseCexpr();
      } else {
        ParseDecl(scanner_.ReadEnum<DeclKind>());
      }
    }
    if (!scanner_.ok()) {
      return scanner_.error();
    }
    return builder_.Finish({});
  }

  // --- RowSink -----------------------------------------------------------------------------------
  Form form() const override { return typed_ ? Form::kTypedGeneric : Form::kUntyped; }
  TypeId ReadType() override;
  ConstId ReadConst() override;
  StringId ReadText() override { return builder_.Text(scanner_.Quoted()); }
  DeclId ReadDecl() override;
  MemberId ReadMember(DeclId owner) override;
  LocalId ReadLocal() override {
    scanner_.Expect("$");
    const LocalId* local = locals_.Find(scanner_.ReadName().key);
    if (local == nullptr) {
      scanner_.Fail("no such local above");
    }
    return local != nullptr ? *local : LocalId{0};
  }
  CexprId ReadCexpr() override {
    scanner_.Expect("?");
    const CexprId* cexpr = cexprs_.Find(scanner_.Number());
    if (cexpr == nullptr) {
      scanner_.Fail("no such cexpr above");
    }
    return cexpr != nullptr ? *cexpr : kTrue;
  }
  // Regions have no name in this form, as the builder cuts them.
  RegionId ReadRegion() override { return {}; }
  TypeId TypeOfConst(ConstId id) override { return const_types_[id.value]; }
  TypeId VoidType() override { return builder_.Void(); }
  ListId AddList(std::span<const uint32_t> words) override { return builder_.List(words); }
  BlockId BeginBlock() override { return builder_.BeginBlock(); }
  void EndBlock() override { builder_.EndBlock(); }
  InstId AddInst(const Inst& inst) override {
    if (!builder_.MayNest(inst)) {
      scanner_.Fail("nested too deep");
      return {};
    }
    return builder_.AddInst(inst, {});
  }

 private:
  struct NamedLocal {
    Local row;
    std::string key;
    std::vector<std::string> shadowed;  // keys
  };

  CexprId ReadCondition() { return scanner_.Accept("where") ? ReadCexpr() : kTrue; }
  template <class ReadItem>
  ListId ReadList(std::string_view open, std::string_view close, ReadItem read);
  ListId ReadCexprs() {
    return ReadList("[", "]", [this] { return ReadCexpr().value; });
  }
  ListId ReadTexts() {
    return ReadList("[", "]", [this] { return ReadText().value; });
  }

  void ParseOption();
  void ParseCexpr();
  void ParseDecl(DeclKind kind);
  uint16_t ParseFlags(DeclKind kind);
  Member ParseMember(uint32_t position, std::vector<std::string>& keys);
  std::string ReadNewName();
  void Declared(DeclId id, uint32_t members);
  void ReadAttributesOf(bool of_member, uint32_t position);
  void ParseOfEntry(Decl decl);
  void ParseFunction(Decl decl);
  NamedLocal ReadLocalRow(LocalKind kind);
  void AddLocal(NamedLocal local);
  std::optional<LocalKind> AcceptLocalKind();

  TextScanner scanner_;
  Builder builder_;
  std::string key_;                       // of the declaration that is read
  FlatMap<uint32_t, CexprId> cexprs_;     // by number in the text
  FlatMap<std::string, LocalId> locals_;  // of the function, by key
  FlatMap<uint32_t, Scalar> scalars_;     // of scalar types
  std::vector<TypeId> const_types_;       // by constant
  uint32_t const_depth_ = 0;
  const bool typed_;
  FlatMap<std::string, DeclId> decls_;      // of typed modules, by key
  FlatMap<std::string, MemberId> members_;  // of containers, by "decl.key"
  uint32_t member_count_ = 0;
  std::vector<Attribute> attributes_;
};

template <class ReadItem>
ListId OpenParser::ReadList(std::string_view open, std::string_view close, ReadItem read) {
  std::vector<uint32_t> words;
  scanner_.Expect(open);
  while (scanner_.ok() && !scanner_.Accept(close)) {
    if (!words.empty()) {
      scanner_.Expect(",");
    }
    words.push_back(read());
  }
  return builder_.List(words);
}

DeclId OpenParser::ReadDecl() {
  scanner_.Expect("@");
  const DeclId* decl = decls_.Find(scanner_.ReadName().key);
  if (decl == nullptr) {
    scanner_.Fail("no such declaration above");
  }
  return decl != nullptr ? *decl : DeclId{0};
}

MemberId OpenParser::ReadMember(DeclId owner) {
  const MemberId* member =
      members_.Find(fmt::format("{}.{}", owner.value, scanner_.ReadName().key));
  if (member == nullptr) {
    scanner_.Fail("no such member above");
  }
  return member != nullptr ? *member : MemberId{};
}

// The name of a declaration, which in typed modules tells it from all others.
std::string OpenParser::ReadNewName() {
  scanner_.Expect("@");
  TextScanner::Name name = scanner_.ReadName();
  key_ = std::move(name.key);
  return std::move(name.base);
}

// Attributes are read before the declaration has a row, with owners that count from its first
// member. Here the rows are known, and the owners are moved to them.
void OpenParser::Declared(DeclId id, uint32_t members) {
  if (typed_ && scanner_.ok() && !decls_.Insert(key_, id).second) {
    scanner_.Fail("this name is taken");
  }
  for (Attribute& attribute : attributes_) {
    // Members of the declaration get the rows behind all that were read so far.
    attribute.owner += attribute.of_member == 0 ? id.value : member_count_;
    builder_.Add(attribute);
  }
  attributes_.clear();
  member_count_ += members;
}

void OpenParser::ReadAttributesOf(bool of_member, uint32_t position) {
  for (const Attribute& attribute :
       ReadAttributes(scanner_, of_member, position,
                      [this](std::string_view text) { return builder_.Text(text).value; })) {
    attributes_.push_back(attribute);
  }
  // Untyped modules hold their attributes as settings, and their rows have no place for others.
  if (!typed_ && !attributes_.empty()) {
    scanner_.Fail("an attribute of an untyped module");
  }
}

// A type is a leaf followed by its extents. The extents are collected first and applied from the
// last to the first, as `f1[2][3]` is an array of two arrays of three.
TypeId OpenParser::ReadType() {
  TypeId type = builder_.Void();
  if (typed_ && scanner_.Peek("@")) {
    type = builder_.Intern({.kind = TypeKind::kDeclared, .element = ReadDecl().value});
  } else if (scanner_.Peek("\"")) {
    type = builder_.Named(scanner_.Quoted());
  } else {
    const Type leaf = scanner_.Known(ParseLeaf(scanner_.LeafWord()));
    type = builder_.Intern(leaf);
    // The text of a scalar constant can only be read with its scalar type, but the builder gives
    // ids and no rows back. So the parser remembers the scalar of each scalar type that it has met.
    if (leaf.kind == TypeKind::kVector && leaf.rows == 1) {
      scalars_.Insert(type.value, leaf.scalar);
    }
  }
  for (uint32_t depth = 0; scanner_.ok(); ++depth) {
    if (depth > kMaxTypeDepth) {
      scanner_.Fail("nested too deep");
    }
    if (scanner_.Accept("...")) {
      type = builder_.RuntimeArray(type);
      continue;
    }
    std::vector<CexprId> extents;
    // The limit holds for the extents as well: each of them becomes one level of the type that
    // others walk by recursion.
    while (scanner_.Accept("[") && extents.size() <= kMaxTypeDepth) {
      extents.push_back(ReadCexpr());
      scanner_.Expect("]");
    }
    if (extents.empty()) {
      break;
    }
    // The last extent belongs to the innermost array.
    for (; !extents.empty(); extents.pop_back()) {
      type = builder_.Array(type, extents.back());
    }
  }
  return type;
}

// Parts are written with their types, because in this form the type of a part does not follow from
// that of the whole: a struct is a name without a known shape.
ConstId OpenParser::ReadConst() {
  const TypeId type = ReadType();
  ConstId id;
  if (scanner_.Peek("{")) {
    if (++const_depth_ > kMaxTypeDepth) {
      scanner_.Fail("nested too deep");
    }
    const ListId parts = ReadList("{", "}", [this] { return ReadConst().value; });
    id = builder_.CompositeConst(type, parts);
    --const_depth_;
  } else {
    // A null pointer means that the type is no scalar. The rest runs on with u32 after the error,
    // and its result is dropped with the module.
    const Scalar* scalar = scalars_.Find(type.value);
    if (scalar == nullptr) {
      scanner_.Fail("expected '{'");
    }
    const std::optional<uint64_t> bits =
        ParseBits(scalar != nullptr ? *scalar : Scalar::kU32, scanner_.ScalarWord());
    id = builder_.ScalarConst(type, scanner_.Known(bits));
  }
  const_types_.resize(std::max<size_t>(const_types_.size(), id.value + 1));
  const_types_[id.value] = type;
  return id;
}

void OpenParser::ParseOption() {
  Option option;
  option.specialize = scanner_.Accept("specialize") ? 1 : 0;
  option.scope = scanner_.ReadEnum<OptionScope>();
  option.name = builder_.Text(scanner_.ReadName().base);
  scanner_.Expect(":");
  option.kind = scanner_.ReadEnum<OptionKind>();
  scanner_.Expect("=");
  if (option.kind == OptionKind::kEnum) {
    option.values = ReadTexts();
    // The value of an enumeration is the number of the text in the list, and the first is the
    // default if nothing is written.
    option.default_value = scanner_.Accept("default") ? scanner_.Number() : 0;
  } else {
    option.default_value =
        scanner_.Known(ParseValue(static_cast<ValueKind>(option.kind), scanner_.ScalarWord()));
  }
  // Zero means no id, so ids are kept one higher.
  option.id_plus_one = scanner_.Accept("id") ? scanner_.Number() + 1 : 0;
  builder_.Add(option);
}

// Expressions refer to those above by number. The builder interns them, so the number in the text
// and the row may differ if somebody wrote an expression twice; the table maps one to the other.
void OpenParser::ParseCexpr() {
  scanner_.Expect("?");
  const uint32_t number = scanner_.Number();
  scanner_.Expect("=");
  Cexpr cexpr{.op = scanner_.ReadEnum<CexprOp>()};
  cexpr.zero = scanner_.Accept("wrapping") ? kWrapping : 0;
  // Wrapping belongs to WGSL, whose modules are typed; an untyped module with such a row would mean
  // what no language says.
  if (cexpr.zero != 0 && !(typed_ && MayWrap(cexpr.op))) {
    scanner_.Fail("an operator that cannot wrap");
  }
  switch (ShapeOf(cexpr.op)) {
    case CexprShape::kLiteral: {
      const auto kind = scanner_.ReadEnum<ValueKind>();
      cexpr.kind = static_cast<uint16_t>(kind);
      cexpr.a = kind == ValueKind::kString
                    ? ReadText().value
                    : scanner_.Known(ParseValue(kind, scanner_.ScalarWord()));
      break;
    }
    case CexprShape::kName:
      cexpr.a = ReadText().value;
      break;
    case CexprShape::kUnary:
      if (cexpr.op == CexprOp::kConvert) {
        cexpr.kind = static_cast<uint16_t>(scanner_.ReadEnum<ValueKind>());
      }
      cexpr.a = ReadCexpr().value;
      break;
    case CexprShape::kBinary:
      cexpr.a = ReadCexpr().value;
      scanner_.Expect(",");
      cexpr.b = ReadCexpr().value;
      break;
    case CexprShape::kSelect:
      cexpr.a = ReadCexpr().value;
      cexpr.b = ReadCexprs().value;
      break;
    case CexprShape::kComposite:
      cexpr.b = ReadCexprs().value;
      scanner_.Expect(":");
      cexpr.a = ReadType().value;
      break;
    // An invalid expression is data as well: it keeps the fault that a front end found, for the
    // case that somebody evaluates it.
    case CexprShape::kInvalid:
      cexpr.kind = static_cast<uint16_t>(scanner_.ReadEnum<InvalidCexpr>());
      cexpr.a = ReadText().value;
      cexpr.b = scanner_.Number();
      break;
  }
  if (scanner_.ok() && !builder_.MayNest(cexpr)) {
    scanner_.Fail("nested too deep");
  }
  if (scanner_.ok() && !cexprs_.Insert(number, builder_.Intern(cexpr)).second) {
    scanner_.Fail("this number is taken");
  }
}

// The low byte says which kind of container, buffer or access it is, and the high byte says which
// set a resource belongs to, as Decl::flags documents it.
uint16_t OpenParser::ParseFlags(DeclKind kind) {
  uint32_t flags = 0;
  if (kind == DeclKind::kContainer) {
    flags = static_cast<uint32_t>(scanner_.ReadEnum<ContainerKind>());
  } else if (kind == DeclKind::kBuffer) {
    flags = static_cast<uint32_t>(scanner_.ReadEnum<BufferKind>());
  } else if (kind == DeclKind::kImage) {
    flags = static_cast<uint32_t>(scanner_.ReadEnum<ImageAccess>());
  } else if (kind == DeclKind::kFunction) {
    flags = scanner_.Accept("relaxed") ? 1 : 0;
  }
  if (kind == DeclKind::kBuffer || kind == DeclKind::kImage || kind == DeclKind::kSampler) {
    flags |= static_cast<uint32_t>(scanner_.ReadEnum<ResourceSet>()) << 8;
  }
  return static_cast<uint16_t>(flags);
}

// "entry @main vertex", "setting @main \"cull_mode\" = ?7", "setting \"blend\" block 1 = ?7"
void OpenParser::ParseOfEntry(Decl decl) {
  if (decl.kind == DeclKind::kEntry) {
    decl.body = ReadDecl().value;
    decl.flags = static_cast<uint16_t>(scanner_.ReadEnum<Stage>());
    decl.name = builder_.Text({});
  } else {
    decl.aux = scanner_.Peek("@") ? ReadDecl().value : kNoRow;
    decl.name = builder_.Text(scanner_.Quoted());
    // Block 0 exists, so the flags hold the number one higher and keep zero for a setting without a
    // block.
    if (scanner_.Accept("block")) {
      decl.flags = static_cast<uint16_t>(scanner_.Number() + 1);
    }
    scanner_.Expect("=");
    decl.body = ReadCexpr().value;
  }
  decl.condition = ReadCondition();
  builder_.Add(decl, {});
}

// Clauses come in one fixed order, that of the printer. A parser that took them in any order would
// accept texts that no printer gives, and so would hide differences in a comparison.
void OpenParser::ParseDecl(DeclKind kind) {
  if (typed_ && (kind == DeclKind::kEntry || kind == DeclKind::kSetting)) {
    return ParseOfEntry({.kind = kind});
  }
  Decl decl{.kind = kind, .flags = ParseFlags(kind)};
  decl.name = builder_.Text(ReadNewName());
  if (kind == DeclKind::kFunction) {
    return ParseFunction(decl);
  }
  if (scanner_.Accept(":")) {
    decl.type = ReadType();
  }
  if (scanner_.Accept("block")) {
    decl.aux = scanner_.Number();
  }
  if (kind == DeclKind::kPrivate && scanner_.Accept("initialise")) {
    decl.aux = ReadDecl().value;
  }
  if (scanner_.Accept("=")) {
    decl.body = ReadCexpr().value;
  }
  ReadAttributesOf(false, 0);
  decl.condition = ReadCondition();
  std::vector<Member> members;
  std::vector<std::string> keys;
  if (scanner_.Accept("{")) {
    while (scanner_.ok() && !scanner_.Accept("}")) {
      members.push_back(ParseMember(static_cast<uint32_t>(members.size()), keys));
    }
  }
  // Texts have no spans: a module that was read from text reports its faults without a location.
  const DeclId id = builder_.Add(decl, {}, members, std::vector<MemberSpans>(members.size()));
  for (uint32_t i = 0; typed_ && i < keys.size(); ++i) {
    members_.Insert(fmt::format("{}.{}", id.value, keys[i]), MemberId{member_count_ + i});
  }
  Declared(id, static_cast<uint32_t>(members.size()));
}

Member OpenParser::ParseMember(uint32_t position, std::vector<std::string>& keys) {
  Member member;
  if (scanner_.Accept("alias")) {
    member.kind = MemberKind::kAlias;
  }
  TextScanner::Name name = scanner_.ReadName();
  member.name = builder_.Text(name.base);
  keys.push_back(std::move(name.key));
  if (scanner_.Accept(":")) {
    member.type = ReadType();
  }
  if (scanner_.Accept("pack")) {
    scanner_.Expect("(");
    std::tie(member.pack, member.pack_bits) = scanner_.ReadPack();
    scanner_.Expect(")");
  }
  if (scanner_.Accept("tags")) {
    member.tags =
        ReadList("(", ")", [this] { return builder_.Text(scanner_.ReadName().base).value; });
  }
  if (scanner_.Accept("=")) {
    member.value = ReadTexts().value;
  }
  // Attributes come before the condition, since `where` ends a row.
  ReadAttributesOf(true, position);
  member.condition = ReadCondition();
  return member;
}

// What follows the word for the kind: name, type, condition, what it shadows.
OpenParser::NamedLocal OpenParser::ReadLocalRow(LocalKind kind) {
  NamedLocal local{.row = {.kind = kind}};
  if (kind == LocalKind::kParameter) {
    local.row.access = scanner_.ReadEnum<Access>();
  }
  scanner_.Expect("$");
  const TextScanner::Name name = scanner_.ReadName();
  local.key = name.key;
  if (!IsExit(kind)) {
    local.row.name = builder_.Text(name.base);
  }
  if (scanner_.Accept(":")) {
    local.row.type = ReadType();
  }
  local.row.relaxed = scanner_.Accept("relaxed") ? 1 : 0;
  local.row.condition = ReadCondition();
  if (scanner_.Accept("shadows")) {
    scanner_.Expect("[");
    do {
      scanner_.Expect("$");
      local.shadowed.push_back(scanner_.ReadName().key);
    } while (scanner_.Accept(","));
    scanner_.Expect("]");
  }
  return local;
}

// Whatever a local shadows stands above it in the same list, as the locals are listed in the order
// of the source.
void OpenParser::AddLocal(NamedLocal local) {
  std::vector<LocalId> shadowed;
  for (const std::string& key : local.shadowed) {
    if (const LocalId* known = locals_.Find(key)) {
      shadowed.push_back(*known);
    } else {
      scanner_.Fail("shadows no local above");
    }
  }
  if (!shadowed.empty()) {
    local.row.shadowed = builder_.Ids(shadowed);
  }
  const LocalId id = local.row.kind == LocalKind::kParameter ? builder_.AddParameter(local.row, {})
                                                             : builder_.AddLocal(local.row, {});
  if (!locals_.Insert(local.key, id).second) {
    scanner_.Fail("this name is taken");
  }
}

// Parameters are read before the function begins, because the type of the result stands behind them
// and the builder wants a complete declaration.
void OpenParser::ParseFunction(Decl decl) {
  std::vector<NamedLocal> parameters;
  scanner_.Expect("(");
  while (scanner_.ok() && !scanner_.Accept(")")) {
    if (!parameters.empty()) {
      scanner_.Expect(",");
    }
    parameters.push_back(ReadLocalRow(LocalKind::kParameter));
    ReadAttributesOf(true, static_cast<uint32_t>(parameters.size() - 1));
  }
  scanner_.Expect("->");
  decl.type = ReadType();
  ReadAttributesOf(false, 0);
  decl.condition = ReadCondition();
  scanner_.Expect("{");
  // The names of locals are those of one function; the same name comes again in the next.
  locals_.Clear();
  const DeclId id = builder_.BeginFunction(decl, {});
  std::ranges::for_each(parameters, [this](const NamedLocal& local) { AddLocal(local); });
  while (const std::optional<LocalKind> kind = AcceptLocalKind()) {
    AddLocal(ReadLocalRow(*kind));
  }
  // The parser of blocks works on the scanner of this object and gives its rows back to it, so
  // there is one position and one error for both.
  BlockParser(scanner_, *this).ParseStatements();
  scanner_.Expect("}");
  builder_.EndFunction();
  Declared(id, static_cast<uint32_t>(parameters.size()));
}

std::optional<LocalKind> OpenParser::AcceptLocalKind() {
  if (scanner_.Accept("var")) {
    return LocalKind::kVariable;
  }
  if (scanner_.Accept("exit")) {
    return LocalKind::kLoopExit;
  }
  if (scanner_.Accept("leave")) {
    return LocalKind::kSwitchExit;
  }
  // an alias without block is the declaration of its name, one with a block is the instruction
  TextScanner ahead = scanner_;
  if (ahead.Accept("alias") && ahead.Accept("$") && (ahead.ReadName(), !ahead.Peek("{"))) {
    scanner_.Expect("alias");
    return LocalKind::kAlias;
  }
  return std::nullopt;
}

}  // namespace

// The header decides how the rest is read, so it comes first. Without a list of rules a module has
// those of its form: none if it is typed and all of them if it is not.
Result<Module> ParseModule(std::string_view text, CutPolicy policy) {
  TextScanner scanner(text);
  scanner.Expect("module");
  ModuleHeader header{.language = scanner.ReadEnum<Language>()};
  header.version = scanner.Number();
  header.typed = scanner.Accept("typed") ? 1 : 0;
  header.rules = header.typed != 0 ? 0 : kAllRules;
  if (scanner.Accept("rules")) {
    header.rules = 0;
    scanner.Expect("[");
    while (scanner.ok() && !scanner.Accept("]")) {
      header.rules |= 1u << static_cast<uint32_t>(scanner.ReadEnum<ModuleRule>());
      if (!scanner.Peek("]")) {
        scanner.Expect(",");
      }
    }
  }
  return OpenParser(std::move(scanner), header, policy).Parse();
}

}  // namespace kiln::ir
