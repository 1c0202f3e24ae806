// SPDX-License-Identifier: MIT
#include "compiler/resolve/values/open_text.h"

#include <bit>
#include <span>

#include <fmt/format.h>

#include "compiler/base/check.h"
#include "compiler/ir/builtins.h"

namespace kiln::resolve {
namespace {

// Long enough to recognise the expression in a message that also has a location.
constexpr size_t kTextLimit = 40;
// The text is cut after 40 characters anyway; the limit keeps deep expressions from recursing.
constexpr uint32_t kDepthLimit = 12;

// Constants are printed as RPL writes them, so the text can be found in the source.
std::string ConstText(const ir::ModuleView& module, ir::ConstId id) {
  const ir::Const& value = module.consts[id.value];
  const ir::Type& type = module.types[value.type.value];
  if (type.scalar == ir::Scalar::kF32) {
    const std::string text = fmt::format("{}", std::bit_cast<float>(value.a));
    // "inf" and "nan" have an n, and exponents an e: neither gets a dot.
    return text.find_first_of(".en") == std::string::npos ? text + ".0" : text;
  }
  if (type.scalar == ir::Scalar::kS32) {
    return std::to_string(static_cast<int32_t>(value.a));
  }
  return std::to_string(value.a) + "u";
}

// Builds text left to right and stops when it is long enough.
class Writer {
 public:
  explicit Writer(const ir::ModuleView& module) : module_(module) {}

  void Expression(ir::InstId id, uint32_t depth) {
    // The limit is asked before each part, so the text never grows far beyond it.
    if (depth == 0 || text_.size() > kTextLimit) {
      text_ += "...";
      return;
    }
    Inst(module_.insts[id.value], depth - 1);
  }

  std::string Take() {
    // Three bytes are left for the dots, so a text that fits is not cut.
    if (text_.size() > kTextLimit + 3) {
      text_.resize(kTextLimit);
      text_ += "...";
    }
    return std::move(text_);
  }

 private:
  // Lists of arguments, with commas.
  void List(ir::ListId list, std::string_view open, std::string_view close, uint32_t depth) {
    // Cut lists are still closed, so the brackets of a text always pair.
    text_ += open;
    bool first = true;
    for (const uint32_t item : module_.List(list)) {
      text_ += first ? "" : ", ";
      first = false;
      Expression(ir::InstId{item}, depth);
    }
    text_ += close;
  }

  // A block with a value ends in a yield; whatever it has before this is left out.
  void Yielded(ir::BlockId block, uint32_t depth) {
    const std::span<const uint32_t> insts = module_.InstsOf(block);
    if (insts.empty() || module_.insts[insts.back()].kind != ir::InstKind::kYield) {
      text_ += "...";
      return;
    }
    Expression(module_.insts[insts.back()].As<ir::YieldInst>().value, depth);
  }

  // Without brackets: a message shows the expression to be recognised, and its place says the rest.
  // Operators in each other therefore lose their brackets.
  void Infix(ir::InstId left, std::string_view op, ir::InstId right, uint32_t depth) {
    Expression(left, depth);
    text_ += fmt::format(" {} ", op);
    Expression(right, depth);
  }

  void Inst(const ir::Inst& inst, uint32_t depth);

  const ir::ModuleView& module_;
  std::string text_;
};

// Generic instructions only: the text shows what was written, before names were resolved. A kind
// without a text of its own shows its mnemonic, which is not pretty but never wrong.
void Writer::Inst(const ir::Inst& inst, uint32_t depth) {
  if (inst.kind == ir::InstKind::kConst) {
    text_ += ConstText(module_, inst.As<ir::ConstInst>().value);
  } else if (inst.kind == ir::InstKind::kFlag) {
    text_ += inst.As<ir::FlagInst>().value != 0 ? "true" : "false";
  } else if (inst.kind == ir::InstKind::kText) {
    text_ += fmt::format("\"{}\"", module_.Text(inst.As<ir::TextInst>().value));
  } else if (inst.kind == ir::InstKind::kNameRef) {
    text_ += module_.Text(inst.As<ir::NameRefInst>().name);
  } else if (inst.kind == ir::InstKind::kMember) {
    Expression(inst.As<ir::MemberInst>().source, depth);
    text_ += '.';
    text_ += module_.Text(inst.As<ir::MemberInst>().name);
  } else if (inst.kind == ir::InstKind::kIndex) {
    Expression(inst.As<ir::IndexInst>().source, depth);
    text_ += '[';
    Expression(inst.As<ir::IndexInst>().index, depth);
    text_ += ']';
  } else if (inst.kind == ir::InstKind::kNameCall) {
    text_ += module_.Text(inst.As<ir::NameCallInst>().name);
    List(inst.As<ir::NameCallInst>().arguments, " (", ")", depth);
  } else if (inst.kind == ir::InstKind::kNameConstruct) {
    text_ += OpenTypeText(module_, inst.type);
    List(inst.As<ir::NameConstructInst>().arguments, " {", "}", depth);
  } else if (inst.kind == ir::InstKind::kNameBuiltin) {
    text_ += BuiltinText(inst.As<ir::NameBuiltinInst>().builtin, OpenTypeText(module_, inst.type));
    List(inst.As<ir::NameBuiltinInst>().arguments, " (", ")", depth);
    // Written in front, without a space.
  } else if (inst.kind == ir::InstKind::kNameUnary) {
    text_ += OperatorText(inst.As<ir::NameUnaryInst>().op);
    Expression(inst.As<ir::NameUnaryInst>().operand, depth);
  } else if (inst.kind == ir::InstKind::kNameBinary) {
    const auto binary = inst.As<ir::NameBinaryInst>();
    Infix(binary.left, OperatorText(binary.op), binary.right, depth);
  } else if (inst.kind == ir::InstKind::kAssign) {
    Infix(inst.As<ir::AssignInst>().target, "=", inst.As<ir::AssignInst>().value, depth);
  } else if (inst.kind == ir::InstKind::kAssignOp) {
    const auto assign = inst.As<ir::AssignOpInst>();
    Infix(assign.target, fmt::format("{}=", OperatorText(assign.op)), assign.value, depth);
  } else if (inst.kind == ir::InstKind::kLogical) {
    Expression(inst.As<ir::LogicalInst>().left, depth);
    // The right side is a block, since it runs only if the left one has not decided.
    text_ += fmt::format(" {} ", OperatorText(inst.As<ir::LogicalInst>().op));
    Yielded(inst.As<ir::LogicalInst>().right, depth);
  } else if (inst.kind == ir::InstKind::kNameSelect) {
    const auto select = inst.As<ir::NameSelectInst>();
    Expression(select.condition, depth);
    const std::span<const uint32_t> blocks = module_.List(select.blocks);
    for (size_t i = 0; i < blocks.size(); ++i) {
      text_ += i == 0 ? " ? " : " : ";
      Yielded(ir::BlockId{blocks[i]}, depth);
    }
  } else {
    text_ += ir::FactsOf(inst.kind).mnemonic;
  }
}

}  // namespace

std::string OpenText(const ir::ModuleView& module, ir::InstId expression) {
  Writer writer(module);
  writer.Expression(expression, kDepthLimit);
  return writer.Take();
}

// Extents are expressions and would make the text long; three dots stand for them.
std::string OpenTypeText(const ir::ModuleView& module, ir::TypeId id) {
  std::string extents;
  const ir::Type* type = &module.types[id.value];
  // Bounded, though types nest less deep: the module may not have been verified.
  for (uint32_t depth = 0; depth < 64; ++depth) {
    if (type->kind == ir::TypeKind::kArray) {
      extents += "[...]";
    } else if (type->kind == ir::TypeKind::kRuntimeArray) {
      extents += "...";
    } else {
      break;
    }
    type = &module.types[type->element];
  }
  switch (type->kind) {
    case ir::TypeKind::kVoid:
      return "void";
    case ir::TypeKind::kVector:
      return fmt::format("{}{}{}", ir::ScalarLetter(type->scalar), type->rows, extents);
    case ir::TypeKind::kMatrix:
      return fmt::format("{}{}x{}{}", ir::ScalarLetter(type->scalar), type->columns, type->rows,
                         extents);
    case ir::TypeKind::kNamed:
      return fmt::format("{}{}", module.Text(ir::StringId{type->element}), extents);
    case ir::TypeKind::kSampler:
      return "sampler";
    case ir::TypeKind::kImage:
      return "image" + extents;
    case ir::TypeKind::kArray:
    case ir::TypeKind::kRuntimeArray:
    case ir::TypeKind::kStruct:
    case ir::TypeKind::kDeferred:
    case ir::TypeKind::kDeclared:
    case ir::TypeKind::kSampledImage:
    case ir::TypeKind::kAccel:
    case ir::TypeKind::kRayQuery:
      return "...";
  }
  KILN_UNREACHABLE();
}

// As a source writes them, also where two of the IR's operators share a spelling.
std::string_view OperatorText(ir::BinaryOp op) {
  switch (op) {
    case ir::BinaryOp::kAdd:
      return "+";
    case ir::BinaryOp::kSub:
      return "-";
    case ir::BinaryOp::kMul:
      return "*";
    case ir::BinaryOp::kDiv:
      return "/";
    case ir::BinaryOp::kMod:
      return "%";
    case ir::BinaryOp::kAnd:
      return "&";
    case ir::BinaryOp::kOr:
      return "|";
    case ir::BinaryOp::kXor:
      return "^";
    case ir::BinaryOp::kShiftLeft:
      return "<<";
    case ir::BinaryOp::kShiftRight:
    case ir::BinaryOp::kShiftRightArithmetic:
      return ">>";
    case ir::BinaryOp::kLess:
      return "<";
    case ir::BinaryOp::kGreater:
      return ">";
    case ir::BinaryOp::kLessEqual:
      return "<=";
    case ir::BinaryOp::kGreaterEqual:
      return ">=";
    case ir::BinaryOp::kEqual:
      return "==";
    case ir::BinaryOp::kNotEqual:
    case ir::BinaryOp::kNotEqualOrdered:
      return "!=";
    case ir::BinaryOp::kRem:
      return "%";
  }
  KILN_UNREACHABLE();
}

std::string_view OperatorText(ir::UnaryOp op) {
  switch (op) {
    case ir::UnaryOp::kNegate:
      return "-";
    case ir::UnaryOp::kNot:
      return "!";
    case ir::UnaryOp::kComplement:
      return "~";
    case ir::UnaryOp::kPlus:
      return "+";
  }
  KILN_UNREACHABLE();
}

std::string_view OperatorText(ir::LogicalOp op) { return op == ir::LogicalOp::kAnd ? "&&" : "||"; }

// A function for a type has it in its name; others have none.
std::string BuiltinText(ir::Builtin builtin, std::string_view type) {
  const ir::BuiltinFacts& facts = ir::FactsOf(builtin);
  if (facts.types == ir::BuiltinTypes::kNone) {
    return std::string(facts.name);
  }
  return fmt::format("{}_{}", facts.name, type);
}

}  // namespace kiln::resolve
