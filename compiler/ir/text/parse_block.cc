// SPDX-License-Identifier: MIT
// One instruction per line, nested blocks in braces.
#include "compiler/ir/text/parse_block.h"

#include <array>

#include "compiler/base/check.h"
#include "compiler/ir/operands.h"
#include "compiler/ir/text/spelling.h"
#include "compiler/ir/typing/image_typing.h"

namespace kiln::ir {
namespace {

// Blocks nest by recursion, and text comes from files that a fuzzer wrote as well; so the depth has
// a limit, which is far above what a program nests.
constexpr uint32_t kMaxParsedDepth = 256;

}  // namespace

void BlockParser::ParseStatements() {
  while (scanner_.ok() && !scanner_.Peek("}")) {
    ParseInst();
  }
}

// Reads by the schema of the kind alone: a table row says which operands an instruction has, so
// that a new kind needs code here only if it has a shape of its own (image, atomic, switch). The
// text order is operands, hint, type, blocks.
void BlockParser::ParseInst() {
  const bool has_result = scanner_.Accept("%");
  const uint32_t number = has_result ? scanner_.Number() : 0;
  if (has_result) {
    scanner_.Expect("=");
  }
  const InstKind kind = scanner_.Known(FindInstKind(scanner_.Word()));
  const InstFacts& facts = FactsOf(kind);
  // A module of one form must not hold instructions of another, otherwise the builder would take a
  // row that no later pass knows. The first error ends the parse, so what follows may run on with
  // zeros.
  if (!Includes(facts.form, sink_.form())) {
    scanner_.Fail("not an instruction of this form");
  }
  if (has_result != (facts.result != ResultSchema::kVoid)) {
    scanner_.Fail("a result where there is none, or none where there is one");
  }
  // Operators and flags stand right behind the mnemonic, where the printer puts them as well.
  uint16_t flags = ParseFlags(facts.flags);
  std::array<OperandSchema, 2> schemas{facts.a, facts.b};
  std::array<uint32_t, 2> words{0, 0};
  uint32_t selector = 0;
  if (kind == InstKind::kImage) {
    ParseImage(static_cast<ImageOp>(flags & kSchemaFlags), words);
  } else if (kind == InstKind::kAtomic) {
    ParseAtomic(words);
  } else if (kind == InstKind::kSwitch) {
    // The list of a switch begins with its selector, because the row itself has no operand left for
    // it; the text puts it where a reader expects it.
    selector = ParseValue();
    words[0] = sink_.ReadLocal().value;
  } else {
    ParseOperands(kind, words);
  }
  flags |= ParseHint(facts.flags);
  TypeId type = sink_.VoidType();
  // A constant carries its type in its own text, and the printer leaves the type of the instruction
  // away if it is the same one.
  if (has_result && kind == InstKind::kConst && !scanner_.Peek(":") && scanner_.ok()) {
    type = sink_.TypeOfConst(ConstId{words[0]});
  } else if (has_result) {
    scanner_.Expect(":");
    type = sink_.ReadType();
  }
  // Blocks are read last, since they stand behind the type in the text. A block may use values from
  // above, but no value of a block is known behind it except by its number, which stays in the
  // table; the verifier checks the scopes.
  for (size_t i = 0; i < schemas.size(); ++i) {
    if (schemas[i] == OperandSchema::kBlock) {
      words[i] = ParseBlock();
    } else if (schemas[i] == OperandSchema::kBlocks) {
      words[i] = ParseBlocks();
    } else if (schemas[i] == OperandSchema::kCases) {
      words[i] = ParseCases(selector);
    }
  }
  Inst inst = MakeInst(kind, flags, type, words);
  // In the text of a generic module a cut region stands as a block in its place. It is read as an
  // uncut `when`, and the builder cuts it again by the policy in force, so a text does not depend
  // on how its module was cut.
  if (kind == InstKind::kWhenRegion) {  // cut again by whoever takes the rows
    inst = WhenInst{type, CexprId{words[0]}, BlockId{ParseBlock()}}.To();
  }
  // Nothing is added after an error: the sink may refuse rows that are half read.
  if (!scanner_.ok()) {
    return;
  }
  // The instruction gets its number in the table only after its blocks were read, as an instruction
  // cannot use its own result.
  const InstId id = sink_.AddInst(inst);
  if (has_result && !values_.Insert(number, id.value).second) {
    scanner_.Fail("this number is taken");
  }
}

void BlockParser::ParseOperands(InstKind kind, std::array<uint32_t, 2>& words) {
  const InstFacts& facts = FactsOf(kind);
  const std::array<OperandSchema, 2> schemas{facts.a, facts.b};
  bool first = true;
  for (size_t i = 0; i < schemas.size() && scanner_.ok(); ++i) {
    if (schemas[i] == OperandSchema::kNone || schemas[i] == OperandSchema::kOptMember ||
        IsBlockSchema(schemas[i])) {
      continue;
    }
    // Lists begin with a bracket, and this is enough to separate them; the printer does the same.
    if (!first && !IsListSchema(schemas[i]) && schemas[i] != OperandSchema::kTexts) {
      scanner_.Expect(",");
    }
    first = false;
    words[i] = ParseOperand(kind, schemas[i], words[1]);
  }
}

// "%3, %4, %5 lod %6": as many values as the operation has, then keywords in their order.
void BlockParser::ParseImage(ImageOp op, std::array<uint32_t, 2>& words) {
  std::vector<uint32_t> values{ParseValue()};
  const bool sampler = FactsOf(op).operands.starts_with('S');
  // The facts of an operation spell its operands as letters, and so their count is the count of
  // values to expect. A combined image and sampler is one value, and `_` stands where the sampler
  // would be.
  const size_t plain = FactsOf(op).operands.size();  // a letter each, the sampler too
  for (size_t i = 0; i < plain && scanner_.ok(); ++i) {
    // Every operand is due here: an image operation has no optional ones but the keywords.
    scanner_.Expect(",");
    if (i == 0 && sampler && scanner_.Accept("_")) {
      words[0] |= kCombinedSampler;
    } else {
      values.push_back(ParseValue());
    }
  }
  // Keywords are accepted in the order of their bits only. That is the order of the printer and
  // that of the operands in the list, where nothing else tells them apart.
  for (uint32_t bit = 0; bit < CountOf<ImageOperand>(); ++bit) {
    const auto keyword = static_cast<ImageOperand>(bit);
    if (!scanner_.Accept(NameOf(keyword))) {
      continue;
    }
    words[0] |= BitOf(keyword);
    for (size_t i = 0; i < OperandCountOf(keyword); ++i) {
      if (i > 0) {
        scanner_.Expect(",");
      }
      values.push_back(ParseValue());
    }
  }
  words[1] = sink_.AddList(values).value;
}

// The number of values depends on the operation and on the kind of the place. Neither is checked
// here: the verifier does it for rows from every source.
void BlockParser::ParseAtomic(std::array<uint32_t, 2>& words) {
  // The place comes first, then the values.
  std::vector<uint32_t> values{ParseValue()};
  while (scanner_.Accept(",")) {
    values.push_back(ParseValue());
  }
  AtomicMode mode{.scope = scanner_.ReadEnum<MemoryScope>()};
  mode.order = scanner_.ReadEnum<MemoryOrder>();
  words[0] = Pack(mode);
  words[1] = sink_.AddList(values).value;
}

uint32_t BlockParser::ParseBarrier() {
  BarrierMode mode{.execution = scanner_.ReadEnum<MemoryScope>()};
  scanner_.Expect("memory");
  scanner_.Expect("(");
  while (scanner_.ok() && !scanner_.Accept(")")) {
    const auto kind = scanner_.ReadEnum<MemoryKind>();
    // The kinds are a set, so a kind that is said twice changes nothing.
    mode.kinds = static_cast<uint8_t>(mode.kinds | 1u << static_cast<uint32_t>(kind));
    if (!scanner_.Peek(")")) {
      scanner_.Expect(",");
    }
  }
  mode.scope = scanner_.ReadEnum<MemoryScope>();
  return Pack(mode);
}

// `default` is either a case of its own or one label among others, as HLSL and WGSL allow it. Which
// position it has among the labels makes no difference, and the printer writes it last.
uint32_t BlockParser::ParseCases(uint32_t selector) {
  std::vector<uint32_t> words{selector};
  scanner_.Expect("{");
  while (scanner_.ok() && !scanner_.Accept("}")) {
    std::vector<uint32_t> labels;
    // Either the whole case is `default`, or labels come first and `default` ends them.
    bool is_default = scanner_.Accept("default");
    if (!is_default) {
      scanner_.Expect("case");
      do {
        is_default = scanner_.Accept("default");
        if (!is_default) {
          labels.push_back(sink_.ReadConst().value);
        }
      } while (!is_default && scanner_.Accept(","));
    }
    // As in the row: a head with the count, then the labels, then the block.
    words.push_back(CaseHead(labels.size(), is_default, scanner_.Accept("through")));
    words.insert(words.end(), labels.begin(), labels.end());
    words.push_back(ParseBlock());
  }
  return sink_.AddList(words).value;
}

// Behind the operands of branches and loops.
uint16_t BlockParser::ParseHint(FlagSchema schema) {
  if (schema == FlagSchema::kBranch) {
    for (const BranchHint hint : {BranchHint::kFlatten, BranchHint::kDontFlatten}) {
      if (scanner_.Accept(NameOf(hint))) {
        return static_cast<uint16_t>(hint);
      }
    }
  }
  if (schema == FlagSchema::kLoop && scanner_.Accept(NameOf(LoopHint::kDontUnroll))) {
    return static_cast<uint16_t>(LoopHint::kDontUnroll);
  }
  if (schema != FlagSchema::kLoop || !scanner_.Accept(NameOf(LoopHint::kUnroll))) {
    return 0;
  }
  uint32_t count = 0;
  if (scanner_.Accept("(")) {
    count = scanner_.Number();
    scanner_.Expect(")");
    // The count lies in the upper byte of the flags, and zero there means that no count was
    // written.
    if (count == 0 || count > 255) {
      scanner_.Fail("1 to 255 passes are unrolled");
      count = 0;
    }
  }
  return static_cast<uint16_t>(static_cast<uint32_t>(LoopHint::kUnroll) | count << 8);
}

uint16_t BlockParser::ParseFlags(FlagSchema schema) {
  uint16_t flags = ParseOperator(schema);
  // Branches and loops use the bits of the flags for their hints, which are read elsewhere.
  const bool may_have = schema != FlagSchema::kBranch && schema != FlagSchema::kLoop;
  for (uint32_t bit = 0; may_have && bit < CountOf<InstFlag>(); ++bit) {
    if (scanner_.Accept(kNames<InstFlag>[bit])) {
      flags |= BitOf(static_cast<InstFlag>(bit));
    }
  }
  return flags;
}

uint16_t BlockParser::ParseOperator(FlagSchema schema) {
  // The argument is a value of the wanted enumeration, which serves for its type only.
  const auto word = [this](auto tag) {
    return static_cast<uint16_t>(scanner_.ReadEnum<decltype(tag)>());
  };
  switch (schema) {
    case FlagSchema::kNone:
      return 0;
    case FlagSchema::kBinary:
      return word(BinaryOp{});
    case FlagSchema::kUnary:
      return word(UnaryOp{});
    case FlagSchema::kLogical:
      return word(LogicalOp{});
    case FlagSchema::kBuiltin:
      return static_cast<uint16_t>(scanner_.Known(FindBuiltin(scanner_.Word())));
    case FlagSchema::kStage:
      return word(StageVariable{});
    case FlagSchema::kDirection:
      return word(Direction{});
    case FlagSchema::kImage:
      return word(ImageOp{});
    case FlagSchema::kAtomic:
      return word(AtomicOp{});
    case FlagSchema::kBranch:
    case FlagSchema::kLoop:
      return 0;
  }
  KILN_UNREACHABLE();
}

// `second` is where a declaration's member goes.
uint32_t BlockParser::ParseOperand(InstKind kind, OperandSchema schema, uint32_t& second) {
  switch (schema) {
    case OperandSchema::kInst:
      return ParseValue();
    case OperandSchema::kOptInst:
      return scanner_.Accept("_") ? kNoRow : ParseValue();
    case OperandSchema::kString:
      return sink_.ReadText().value;
    case OperandSchema::kConst:
      return sink_.ReadConst().value;
    case OperandSchema::kLocal:
      return sink_.ReadLocal().value;
    case OperandSchema::kOptLocal:
      return scanner_.Accept("_") ? kNoRow : sink_.ReadLocal().value;
    case OperandSchema::kDecl: {
      const DeclId decl = sink_.ReadDecl();
      if (kind == InstKind::kGlobalRef) {
        second = scanner_.Accept(".") ? sink_.ReadMember(decl).value : kNoRow;
      }
      return decl.value;
    }
    case OperandSchema::kCexpr:
      return sink_.ReadCexpr().value;
    case OperandSchema::kRegion:
      return sink_.form() == Form::kSpecialised ? sink_.ReadRegion().value
                                                : sink_.ReadCexpr().value;
    case OperandSchema::kLiteral:
      return ParseLiteral(kind);
    case OperandSchema::kInsts:
      return ParseList([this] { return ParseValue(); });
    case OperandSchema::kLocals:
      return ParseList([this] { return sink_.ReadLocal().value; });
    case OperandSchema::kTexts:
      return ParseList([this] { return sink_.ReadText().value; });
    case OperandSchema::kPart: {
      // A part is one list: the value and then the steps, so it needs no operand of its own for
      // either.
      std::vector<uint32_t> part{ParseValue()};
      scanner_.Expect("[");
      do {
        part.push_back(scanner_.Number());
      } while (scanner_.Accept(","));
      scanner_.Expect("]");
      return sink_.AddList(part).value;
    }
    case OperandSchema::kNone:
    case OperandSchema::kOptMember:
    case OperandSchema::kBlock:
    case OperandSchema::kBlocks:
    case OperandSchema::kCases:
      break;
  }
  KILN_UNREACHABLE();
}

// A literal word means what its instruction says: a flag, the packed mode of a barrier, letters of
// a swizzle or a plain number.
uint32_t BlockParser::ParseLiteral(InstKind kind) {
  if (kind == InstKind::kFlag) {
    // A flag has the spelling of a constant of booleans.
    return scanner_.Known(ParseScalar(Scalar::kBool, scanner_.Word()));
  }
  if (kind == InstKind::kBarrier) {
    return ParseBarrier();
  }
  if (kind != InstKind::kSwizzle) {
    return scanner_.Number();
  }
  const std::string_view letters = scanner_.Word();
  uint8_t numbers[4] = {};
  if (letters.size() > 4) {
    scanner_.Fail("at most four letters");
    return 0;
  }
  for (size_t i = 0; i < letters.size(); ++i) {
    const size_t letter = std::string_view("xyzw").find(letters[i]);
    if (letter == std::string_view::npos) {
      scanner_.Fail("expected letters of xyzw");
    }
    numbers[i] = static_cast<uint8_t>(letter & 3);
  }
  return PackSwizzle(static_cast<uint32_t>(letters.size()), numbers);
}

// Values must stand above their uses. That keeps a text readable from top to bottom and makes a
// cycle impossible to write.
uint32_t BlockParser::ParseValue() {
  scanner_.Expect("%");
  const uint32_t* row = values_.Find(scanner_.Number());
  if (row == nullptr) {
    scanner_.Fail("no such value above");
  }
  return row != nullptr ? *row : 0;
}

uint32_t BlockParser::ParseBlock() {
  scanner_.Expect("{");
  if (++depth_ > kMaxParsedDepth) {
    scanner_.Fail("nested too deep");
  }
  // The block has its number before its contents are read, so an outer block has a lower number
  // than those inside of it.
  const BlockId block = sink_.BeginBlock();
  ParseStatements();
  sink_.EndBlock();
  scanner_.Expect("}");
  --depth_;
  return block.value;
}

// The blocks have no count and no comma; the next token tells whether there is another one.
uint32_t BlockParser::ParseBlocks() {
  std::vector<uint32_t> blocks;
  while (scanner_.Peek("{")) {
    blocks.push_back(ParseBlock());
  }
  return sink_.AddList(blocks).value;
}

template <class ReadItem>
uint32_t BlockParser::ParseList(ReadItem read) {
  // The list is added when its end is read: items may add lists of their own, and those come before
  // it.
  std::vector<uint32_t> words;
  scanner_.Expect("[");
  while (scanner_.ok() && !scanner_.Accept("]")) {
    if (!words.empty()) {
      scanner_.Expect(",");
    }
    words.push_back(read());
  }
  return sink_.AddList(words).value;
}

}  // namespace kiln::ir
