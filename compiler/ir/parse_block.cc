// SPDX-License-Identifier: MIT
// One instruction per line, nested blocks in braces.
#include "compiler/ir/parse_block.h"

#include <array>

#include "compiler/base/check.h"
#include "compiler/ir/operands.h"
#include "compiler/ir/spelling.h"

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
  if (facts.form != Form::kBoth && facts.form != sink_.form()) {
    scanner_.Fail("not an instruction of this form");
  }
  if (has_result != (facts.result != ResultSchema::kVoid)) {
    scanner_.Fail("a result where there is none, or none where there is one");
  }
  const uint16_t flags = ParseFlags(facts.flags);
  std::array<OperandSchema, 2> schemas{facts.a, facts.b};
  std::array<uint32_t, 2> words{0, 0};
  bool first = true;
  for (size_t i = 0; i < schemas.size() && scanner_.ok(); ++i) {
    if (schemas[i] == OperandSchema::kNone || schemas[i] == OperandSchema::kOptMember ||
        IsBlockSchema(schemas[i])) {
      continue;
    }
    if (!first && !IsListSchema(schemas[i])) {
      scanner_.Expect(",");
    }
    first = false;
    words[i] = ParseOperand(kind, schemas[i], words[1]);
  }
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

uint16_t BlockParser::ParseFlags(FlagSchema schema) {
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
      return sink_.form() == Form::kOpen ? sink_.ReadCexpr().value : sink_.ReadSegment().value;
    case OperandSchema::kLiteral:
      return ParseLiteral(kind);
    case OperandSchema::kInsts:
      return ParseList([this] { return ParseValue(); });
    case OperandSchema::kLocals:
      return ParseList([this] { return sink_.ReadLocal().value; });
    case OperandSchema::kNone:
    case OperandSchema::kOptMember:
    case OperandSchema::kBlock:
    case OperandSchema::kBlocks:
      break;
  }
  KILN_UNREACHABLE();
}

uint32_t BlockParser::ParseLiteral(InstKind kind) {
  if (kind == InstKind::kFlag) {
    return scanner_.Known(ParseScalar(Scalar::kBool, scanner_.Word()));
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
