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

constexpr uint32_t kMaxParsedDepth = 256;

}  // namespace

void BlockParser::ParseStatements() {
  while (scanner_.ok() && !scanner_.Peek("}")) {
    ParseInst();
  }
}

void BlockParser::ParseInst() {
  const bool has_result = scanner_.Accept("%");
  const uint32_t number = has_result ? scanner_.Number() : 0;
  if (has_result) {
    scanner_.Expect("=");
  }
  const InstKind kind = scanner_.Known(FindInstKind(scanner_.Word()));
  const InstFacts& facts = FactsOf(kind);
  if (!Includes(facts.form, sink_.form())) {
    scanner_.Fail("not an instruction of this form");
  }
  if (has_result != (facts.result != ResultSchema::kVoid)) {
    scanner_.Fail("a result where there is none, or none where there is one");
  }
  uint16_t flags = ParseFlags(facts.flags);
  std::array<OperandSchema, 2> schemas{facts.a, facts.b};
  std::array<uint32_t, 2> words{0, 0};
  uint32_t selector = 0;
  if (kind == InstKind::kImage) {
    ParseImage(static_cast<ImageOp>(flags & kSchemaFlags), words);
  } else if (kind == InstKind::kAtomic) {
    ParseAtomic(words);
  } else if (kind == InstKind::kSwitch) {
    selector = ParseValue();
    words[0] = sink_.ReadLocal().value;
  } else {
    ParseOperands(kind, words);
  }
  flags |= ParseHint(facts.flags);
  TypeId type = sink_.VoidType();
  if (has_result && kind == InstKind::kConst && !scanner_.Peek(":") && scanner_.ok()) {
    type = sink_.TypeOfConst(ConstId{words[0]});
  } else if (has_result) {
    scanner_.Expect(":");
    type = sink_.ReadType();
  }
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
  if (kind == InstKind::kWhenSegment) {  // cut again by whoever takes the rows
    inst = WhenInst{type, CexprId{words[0]}, BlockId{ParseBlock()}}.To();
  }
  if (!scanner_.ok()) {
    return;
  }
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
  const size_t plain = FactsOf(op).operands.size();  // a letter each, the sampler too
  for (size_t i = 0; i < plain && scanner_.ok(); ++i) {
    scanner_.Expect(",");
    if (i == 0 && sampler && scanner_.Accept("_")) {
      words[0] |= kCombinedSampler;
    } else {
      values.push_back(ParseValue());
    }
  }
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

void BlockParser::ParseAtomic(std::array<uint32_t, 2>& words) {
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
    mode.kinds = static_cast<uint8_t>(mode.kinds | 1u << static_cast<uint32_t>(kind));
    if (!scanner_.Peek(")")) {
      scanner_.Expect(",");
    }
  }
  mode.scope = scanner_.ReadEnum<MemoryScope>();
  return Pack(mode);
}

uint32_t BlockParser::ParseCases(uint32_t selector) {
  std::vector<uint32_t> words{selector};
  scanner_.Expect("{");
  while (scanner_.ok() && !scanner_.Accept("}")) {
    std::vector<uint32_t> labels;
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
    if (count == 0 || count > 255) {
      scanner_.Fail("1 to 255 passes are unrolled");
      count = 0;
    }
  }
  return static_cast<uint16_t>(static_cast<uint32_t>(LoopHint::kUnroll) | count << 8);
}

uint16_t BlockParser::ParseFlags(FlagSchema schema) {
  uint16_t flags = ParseOperator(schema);
  const bool may_have = schema != FlagSchema::kBranch && schema != FlagSchema::kLoop;
  for (uint32_t bit = 0; may_have && bit < CountOf<InstFlag>(); ++bit) {
    if (scanner_.Accept(kNames<InstFlag>[bit])) {
      flags |= BitOf(static_cast<InstFlag>(bit));
    }
  }
  return flags;
}

uint16_t BlockParser::ParseOperator(FlagSchema schema) {
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
      return sink_.form() == Form::kClosed ? sink_.ReadSegment().value : sink_.ReadCexpr().value;
    case OperandSchema::kLiteral:
      return ParseLiteral(kind);
    case OperandSchema::kInsts:
      return ParseList([this] { return ParseValue(); });
    case OperandSchema::kLocals:
      return ParseList([this] { return sink_.ReadLocal().value; });
    case OperandSchema::kTexts:
      return ParseList([this] { return sink_.ReadText().value; });
    case OperandSchema::kPart: {
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

uint32_t BlockParser::ParseLiteral(InstKind kind) {
  if (kind == InstKind::kFlag) {
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
  const BlockId block = sink_.BeginBlock();
  ParseStatements();
  sink_.EndBlock();
  scanner_.Expect("}");
  --depth_;
  return block.value;
}

uint32_t BlockParser::ParseBlocks() {
  std::vector<uint32_t> blocks;
  while (scanner_.Peek("{")) {
    blocks.push_back(ParseBlock());
  }
  return sink_.AddList(blocks).value;
}

template <class ReadItem>
uint32_t BlockParser::ParseList(ReadItem read) {
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
