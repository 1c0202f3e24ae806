// SPDX-License-Identifier: MIT
// One line per instruction: "%3 = binary add %1, %2 : f3", nested blocks in braces.
#include "compiler/ir/print_block.h"

#include <fmt/format.h>

#include "compiler/base/check.h"
#include "compiler/base/stop.h"
#include "compiler/ir/enum_names.h"
#include "compiler/ir/operands.h"
#include "compiler/ir/spelling.h"

namespace kiln::ir {
namespace {

template <class PrintItem>
void PrintList(std::string& out, std::span<const uint32_t> words, PrintItem print) {
  out += '[';
  for (size_t i = 0; i < words.size(); ++i) {
    out += i == 0 ? "" : ", ";
    print(words[i]);
  }
  out += ']';
}

std::string SwizzleText(uint32_t packed) {
  std::string letters;
  for (uint32_t i = 0; i < SwizzleCount(packed); ++i) {
    letters += "xyzw"[SwizzleLetter(packed, i)];
  }
  return letters;
}

}  // namespace

std::string NameTable::Name(uint32_t id, std::string_view base) {
  return *names_
              .FindOrMake(id,
                          [&] {
                            const uint32_t use = ++uses_[std::string(base)];
                            return use == 1 ? NameText(base)
                                            : fmt::format("{}#{}", NameText(base), use);
                          })
              .first;
}

void BlockPrinter::Print(BlockId block, uint32_t indent) {
  for (const uint32_t number : rows_.InstsOf(block)) {
    CheckStop();
    PrintInst(number, indent);
  }
}

void BlockPrinter::PrintBraces(BlockId block, uint32_t indent) {
  out_ += " {\n";
  Print(block, indent + 2);
  out_.append(indent, ' ');
  out_ += '}';
}

void BlockPrinter::PrintInst(uint32_t number, uint32_t indent) {
  const Inst& inst = rows_.insts[number];
  const InstFacts& facts = FactsOf(inst.kind);
  out_.append(indent, ' ');
  if (facts.result != ResultSchema::kVoid) {
    numbers_[number] = ++last_number_;
    out_ += fmt::format("%{} = ", last_number_);
  }
  out_ += facts.mnemonic;
  PrintFlags(inst);
  bool first = true;
  for (const Operand& operand : OperandsOf(inst)) {
    const bool printed =
        operand.schema != OperandSchema::kNone && operand.schema != OperandSchema::kBlock &&
        operand.schema != OperandSchema::kBlocks && operand.schema != OperandSchema::kOptMember;
    if (printed) {
      out_ += first || IsListSchema(operand.schema) ? " " : ", ";
      PrintOperand(inst, operand.schema, operand.word);
      first = false;
    }
  }
  const bool type_is_known =
      inst.kind == InstKind::kConst && names_.TypeOfConst(inst.As<ConstInst>().value) == inst.type;
  if (facts.result != ResultSchema::kVoid && !type_is_known) {
    out_ += " : " + names_.Type(inst.type);
  }
  ForEachOwnedBlock(
      inst, [this](ListId id) { return rows_.List(id); },
      [&](uint32_t block) { PrintBraces(BlockId{block}, indent); });
  if (inst.kind == InstKind::kWhenSegment) {
    PrintBraces(names_.BlockOf(inst.As<WhenSegmentInst>().segment), indent);
  }
  out_ += '\n';
}

void BlockPrinter::PrintFlags(const Inst& inst) {
  const auto add = [this](std::string_view word) {
    out_ += ' ';
    out_ += word;
  };
  switch (FactsOf(inst.kind).flags) {
    case FlagSchema::kNone:
      return;
    case FlagSchema::kBinary:
      return add(NameOf(static_cast<BinaryOp>(inst.flags)));
    case FlagSchema::kUnary:
      return add(NameOf(static_cast<UnaryOp>(inst.flags)));
    case FlagSchema::kLogical:
      return add(NameOf(static_cast<LogicalOp>(inst.flags)));
    case FlagSchema::kBuiltin:
      return add(FactsOf(static_cast<Builtin>(inst.flags)).name);
    case FlagSchema::kStage:
      return add(NameOf(static_cast<StageVariable>(inst.flags)));
    case FlagSchema::kDirection:
      return add(NameOf(static_cast<Direction>(inst.flags)));
  }
  KILN_UNREACHABLE();
}

void BlockPrinter::PrintOperand(const Inst& inst, OperandSchema schema, uint32_t word) {
  const auto value = [this](uint32_t operand) { out_ += fmt::format("%{}", numbers_[operand]); };
  switch (schema) {
    case OperandSchema::kInst:
      return value(word);
    case OperandSchema::kOptInst:
      if (word == kNoRow) {
        out_ += '_';
        return;
      }
      return value(word);
    case OperandSchema::kString:
      out_ += names_.Text(StringId{word});
      return;
    case OperandSchema::kConst:
      out_ += names_.Const(ConstId{word});
      return;
    case OperandSchema::kLocal:
      out_ += names_.Local(LocalId{word});
      return;
    case OperandSchema::kOptLocal:
      out_ += word == kNoRow ? "_" : names_.Local(LocalId{word});
      return;
    case OperandSchema::kDecl:
      out_ += names_.Decl(DeclId{word});
      if (inst.kind == InstKind::kGlobalRef && inst.As<GlobalRefInst>().member.valid()) {
        out_ += "." + names_.Member(DeclId{word}, inst.As<GlobalRefInst>().member);
      }
      return;
    case OperandSchema::kCexpr:
      out_ += names_.Cexpr(CexprId{word});
      return;
    case OperandSchema::kRegion:
      out_ += names_.Region(RegionId{word});
      return;
    case OperandSchema::kLiteral:
      if (inst.kind == InstKind::kFlag) {
        out_ += word != 0 ? "true" : "false";
      } else if (inst.kind == InstKind::kSwizzle) {
        out_ += SwizzleText(word);
      } else {
        out_ += fmt::format("{}", word);
      }
      return;
    case OperandSchema::kInsts:
      return PrintList(out_, rows_.List(ListId{word}), value);
    case OperandSchema::kLocals:
      return PrintList(out_, rows_.List(ListId{word}),
                       [this](uint32_t local) { out_ += names_.Local(LocalId{local}); });
    case OperandSchema::kNone:
    case OperandSchema::kOptMember:
    case OperandSchema::kBlock:
    case OperandSchema::kBlocks:
      return;
  }
  KILN_UNREACHABLE();
}

}  // namespace kiln::ir
