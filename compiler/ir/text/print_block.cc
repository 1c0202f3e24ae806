// SPDX-License-Identifier: MIT
// One line per instruction: "%3 = binary add %1, %2 : f3", nested blocks in braces.
#include "compiler/ir/text/print_block.h"

#include <fmt/format.h>

#include "compiler/base/check.h"
#include "compiler/base/threads/stop.h"
#include "compiler/ir/enum_names.h"
#include "compiler/ir/operands.h"
#include "compiler/ir/text/spelling.h"
#include "compiler/ir/typing/image_typing.h"

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

// The first thing of a name has the plain name, and only those behind it get a number. So most
// texts read like their source, and a name that is added at the end changes nothing above.
std::string NameTable::Name(uint32_t id, std::string_view base) {
  return *names_
              .FindOrMake(id,
                          [&] {
                            // Counted for each name by itself, so names do not disturb each other.
                            const uint32_t use = ++uses_[std::string(base)];
                            return use == 1 ? NameText(base)
                                            : fmt::format("{}#{}", NameText(base), use);
                          })
              .first;
}

// Texts of big modules take seconds, so each instruction is a point at which the work may be
// stopped.
void BlockPrinter::Print(BlockId block, uint32_t indent) {
  // The order is that of the block, which need not be the order of the rows.
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

// Numbers count in the order of printing and only for results, and not by the row. Two texts of the
// same function are then equal even if the rows were made in another order.
void BlockPrinter::PrintInst(uint32_t number, uint32_t indent) {
  const Inst& inst = rows_.insts[number];
  const InstFacts& facts = FactsOf(inst.kind);
  out_.append(indent, ' ');
  if (facts.result != ResultSchema::kVoid) {
    // Noted before the operands are printed, which cannot mention it.
    numbers_[number] = ++last_number_;
    out_ += fmt::format("%{} = ", last_number_);
  }
  out_ += facts.mnemonic;
  PrintFlags(inst);
  if (inst.kind == InstKind::kImage) {
    PrintImage(inst.As<ImageInst>());
  } else if (inst.kind == InstKind::kAtomic) {
    PrintAtomic(inst.As<AtomicInst>());
  } else {
    PrintOperands(inst);
  }
  PrintHint(inst);
  // A constant has its type in its own text; writing it once more would only make the line longer.
  // The reader knows this rule as well.
  const bool type_is_known =
      inst.kind == InstKind::kConst && names_.TypeOfConst(inst.As<ConstInst>().value) == inst.type;
  if (facts.result != ResultSchema::kVoid && !type_is_known) {
    out_ += " : " + names_.Type(inst.type);
  }
  // The blocks come behind the type, so that the head of a line says all about the instruction
  // itself.
  if (inst.kind == InstKind::kSwitch) {
    PrintCases(inst.As<SwitchInst>(), indent);
  } else {
    // A switch was handled above: its blocks stand between labels.
    ForEachOwnedBlock(
        inst, [this](ListId id) { return rows_.List(id); },
        [&](uint32_t block) { PrintBraces(BlockId{block}, indent); });
  }
  // The region that was cut out is printed in the place where it was cut. A reader sees the
  // function as it was written, and a text does not tell where it was cut.
  if (inst.kind == InstKind::kWhenRegion) {
    PrintBraces(names_.BlockOf(inst.As<WhenRegionInst>().region), indent);
  }
  out_ += '\n';
}

void BlockPrinter::PrintOperands(const Inst& inst) {
  // The selector is the first word of the list of cases and no operand of the row; in the text it
  // comes first all the same.
  if (inst.kind == InstKind::kSwitch) {  // the selector comes first
    out_ += fmt::format(" %{}", numbers_[rows_.List(inst.As<SwitchInst>().cases)[0]]);
  }
  bool first = inst.kind != InstKind::kSwitch;
  for (const Operand& operand : OperandsOf(inst)) {
    const bool printed = operand.schema != OperandSchema::kNone && !IsBlockSchema(operand.schema) &&
                         operand.schema != OperandSchema::kOptMember &&
                         operand.schema != OperandSchema::kCases;
    if (printed) {
      // Brackets separate by themselves, and the local of a switch follows its selector without a
      // comma. The parser has the same rule.
      const bool spaced = first || IsListSchema(operand.schema) ||
                          operand.schema == OperandSchema::kTexts || inst.kind == InstKind::kSwitch;
      out_ += spaced ? " " : ", ";
      PrintOperand(inst, operand.schema, operand.word);
      first = false;
    }
  }
}

void BlockPrinter::PrintWord(std::string_view word) {
  out_ += ' ';
  out_ += word;
}

// Values of a list, with commas.
void BlockPrinter::PrintValues(std::span<const uint32_t> values) {
  for (size_t i = 0; i < values.size(); ++i) {
    out_ += fmt::format("{}%{}", i == 0 ? " " : ", ", numbers_[values[i]]);
  }
}

// " sample %3, %4, %5 lod %6": the sampler is `_` if it is part of the image.
void BlockPrinter::PrintImage(const ImageInst& image) {
  std::span<const uint32_t> values = rows_.List(image.operands);
  const ImageOperandCounts counts = OperandCountsOf(image.op, image.keywords);
  // A text is also wanted for rows that are wrong, since it is what one looks at to find out why.
  // So a list of an unexpected length is printed as it stands and is never indexed.
  if (values.size() != counts.all()) {  // of a damaged row that was never verified
    return PrintValues(values);
  }
  const size_t plain = counts.handles + counts.positional;
  if ((image.keywords & kCombinedSampler) != 0) {
    // `_` stands where a sampler of its own would be, so the positions of the other operands do not
    // change.
    PrintValues(values.first(1));
    out_ += ", _";
    for (size_t i = 1; i < plain; ++i) {
      out_ += fmt::format(", %{}", numbers_[values[i]]);
    }
  } else {
    PrintValues(values.first(plain));
  }
  // Operands of keywords follow the plain ones in the order of the bits.
  values = values.subspan(plain);
  for (uint32_t bit = 0; bit < CountOf<ImageOperand>(); ++bit) {
    const auto keyword = static_cast<ImageOperand>(bit);
    if ((image.keywords & BitOf(keyword)) != 0) {
      PrintWord(NameOf(keyword));
      PrintValues(values.first(OperandCountOf(keyword)));
      values = values.subspan(OperandCountOf(keyword));
    }
  }
}

void BlockPrinter::PrintAtomic(const AtomicInst& atomic) {
  PrintValues(rows_.List(atomic.operands));
  const AtomicMode mode = UnpackAtomic(atomic.mode);
  PrintWord(NameOf(mode.scope));
  PrintWord(NameOf(mode.order));
}

void BlockPrinter::PrintBarrier(const BarrierMode& mode) {
  out_ += fmt::format("{} memory(", NameOf(mode.execution));
  bool first = true;
  for (uint32_t bit = 0; bit < CountOf<MemoryKind>(); ++bit) {
    if ((mode.kinds >> bit & 1u) != 0) {
      out_ += fmt::format("{}{}", first ? "" : ", ", NameOf(static_cast<MemoryKind>(bit)));
      // Order of the bits, so that equal sets have equal texts.
      first = false;
    }
  }
  out_ += fmt::format(") {}", NameOf(mode.scope));
}

// Labels stand in the order of the row, which is the order of the source; `default` comes last
// among them, because the row has only a flag for it.
void BlockPrinter::PrintCases(const SwitchInst& inst, uint32_t indent) {
  out_ += " {\n";
  ForEachCase(rows_.List(inst.cases), [&](const SwitchCase& one) {
    out_.append(indent + 2, ' ');
    for (size_t i = 0; i < one.labels.size(); ++i) {
      out_ += (i == 0 ? "case " : ", ") + names_.Const(ConstId{one.labels[i]});
    }
    out_ += one.is_default ? (one.labels.empty() ? "default" : ", default") : "";
    out_ += one.through ? " through" : "";
    PrintBraces(BlockId{one.block}, indent + 2);
    out_ += '\n';
  });
  out_.append(indent, ' ');
  out_ += '}';
}

// What a branch or a loop is advised, behind its operands.
void BlockPrinter::PrintHint(const Inst& inst) {
  // The low bits are the hint, and the byte above them holds the count of an unrolled loop, where
  // zero means that none was written.
  const uint32_t low = inst.flags & kSchemaFlags;
  if (FactsOf(inst.kind).flags == FlagSchema::kBranch && low != 0) {
    PrintWord(NameOf(static_cast<BranchHint>(low)));
  } else if (FactsOf(inst.kind).flags == FlagSchema::kLoop && low != 0) {
    PrintWord(NameOf(static_cast<LoopHint>(low)));
    const uint32_t count = inst.flags >> 8;
    out_ += count != 0 ? fmt::format("({})", count) : "";
  }
}

void BlockPrinter::PrintFlags(const Inst& inst) {
  const uint32_t low = inst.flags & kSchemaFlags;
  switch (FactsOf(inst.kind).flags) {
    // Kinds without an operator may still have flags, so these leave the switch and do not return.
    case FlagSchema::kNone:
      break;
    case FlagSchema::kBinary:
      PrintWord(NameOf(static_cast<BinaryOp>(low)));
      break;
    case FlagSchema::kUnary:
      PrintWord(NameOf(static_cast<UnaryOp>(low)));
      break;
    case FlagSchema::kLogical:
      PrintWord(NameOf(static_cast<LogicalOp>(low)));
      break;
    case FlagSchema::kBuiltin:
      PrintWord(FactsOf(static_cast<Builtin>(low)).name);
      break;
    case FlagSchema::kStage:
      PrintWord(NameOf(static_cast<StageVariable>(low)));
      break;
    case FlagSchema::kDirection:
      PrintWord(NameOf(static_cast<Direction>(low)));
      break;
    case FlagSchema::kImage:
      PrintWord(NameOf(static_cast<ImageOp>(low)));
      break;
    case FlagSchema::kAtomic:
      PrintWord(NameOf(static_cast<AtomicOp>(low)));
      break;
    case FlagSchema::kBranch:
    case FlagSchema::kLoop:
      return;  // behind the operands
  }
  // The flags are written in the order of their bits, whatever order a front end set them in.
  for (uint32_t bit = 0; bit < CountOf<InstFlag>(); ++bit) {
    if ((inst.flags & BitOf(static_cast<InstFlag>(bit))) != 0) {
      PrintWord(NameOf(static_cast<InstFlag>(bit)));
    }
  }
}

// The counterpart is BlockParser::ParseOperand; both are a switch over the schema without a
// default, so that a new schema does not compile before both know it.
void BlockPrinter::PrintOperand(const Inst& inst, OperandSchema schema, uint32_t word) {
  // An operand has been printed before, so its number is known.
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
      } else if (inst.kind == InstKind::kBarrier) {
        PrintBarrier(UnpackBarrier(word));
      } else {
        out_ += fmt::format("{}", word);
      }
      return;
    case OperandSchema::kInsts:
      return PrintList(out_, rows_.List(ListId{word}), value);
    case OperandSchema::kLocals:
      return PrintList(out_, rows_.List(ListId{word}),
                       [this](uint32_t local) { out_ += names_.Local(LocalId{local}); });
    case OperandSchema::kTexts:
      return PrintList(out_, rows_.List(ListId{word}),
                       [this](uint32_t text) { out_ += names_.Text(StringId{text}); });
    // The first word of a part is the value it is taken of, the others are the steps.
    case OperandSchema::kPart: {
      const std::span<const uint32_t> part = rows_.List(ListId{word});
      value(part[0]);
      out_ += ' ';
      return PrintList(out_, part.subspan(1),
                       [this](uint32_t step) { out_ += fmt::format("{}", step); });
    }
    case OperandSchema::kNone:
    case OperandSchema::kOptMember:
    case OperandSchema::kBlock:
    case OperandSchema::kBlocks:
    case OperandSchema::kCases:
      return;
  }
  KILN_UNREACHABLE();
}

}  // namespace kiln::ir
