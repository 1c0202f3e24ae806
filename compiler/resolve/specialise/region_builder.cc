// SPDX-License-Identifier: MIT
// Rows of blocks that are open lie one after the other in one list, the innermost last; a block
// that ends moves its rows to the region and gives the list back. Operands are found by the number
// of the generic instruction in its function; a slot that was written for another region is as good
// as empty, so nothing is cleared between regions.
#include "compiler/resolve/specialise/region_builder.h"

#include <utility>

#include "compiler/base/check.h"
#include "compiler/ir/operands.h"
#include "compiler/resolve/values/open_text.h"

namespace kiln::resolve {
namespace {

// Most regions mention fewer globals than this, and a scan of twelve rows is cheaper than a hash.
// Beyond it a map takes over, so that a function that mentions everything stays linear.
constexpr size_t kFewMentions = 12;  // that are looked through rather than looked up

}  // namespace

RegionBuilder::RegionBuilder(const Program& program, ir::RegionId region, VariantEvaluator& answers,
                             ir::SpecialisedRegion& out, std::vector<Diagnostic>& diagnostics)
    : program_(program),
      answers_(answers),
      pool_(answers.pool()),
      id_(region),
      module_ordinal_(program.ModuleOf(region)),
      module_(program.module(module_ordinal_)),
      bases_(program.bases(module_ordinal_)),
      region_(program.Get(region)),
      function_(module_.decls[region_.function.value]),
      scratch_(answers.scratch()),
      first_inst_(program.InstsOf(ir::DeclId{bases_.decl + region_.function.value}).begin),
      slots_(scratch_.slots),
      operands_(scratch_.operands),
      steps_(scratch_.steps),
      out_(out),
      diagnostics_(diagnostics) {
  // The slots of operands are by instruction of the whole function, because a region may refer to
  // instructions of the regions around it only through locals, and numbers stay those of the
  // module.
  const size_t size = program.InstsOf(ir::DeclId{bases_.decl + region_.function.value}).size();
  // The scratch memory belongs to the evaluator and is lent to one region at a time. Two of them
  // would overwrite each other's operands.
  KILN_CHECK(!std::exchange(scratch_.in_use, true), "one region is specialised at a time");
  if (slots_.size() < size) {
    slots_.resize(size);
  }
  epoch_ = ++scratch_.epoch;
  // The epoch has wrapped around: a slot that was written four billion regions ago would look new.
  // Everything is cleared once, and counting begins at one.
  if (epoch_ == 0) {
    slots_.assign(slots_.size(), {});
    scratch_.local_types.clear();
    epoch_ = scratch_.epoch = 1;
  }
  scratch_.surveyed.resize(program.region_count());
  scratch_.surveys.resize(program.modules().size());
  std::vector<Survey>& survey = scratch_.surveys[module_ordinal_];
  survey.resize(module_.insts.size());
  survey_ = survey;
}

// Only what is not recognised by its epoch has to be emptied.
RegionBuilder::~RegionBuilder() {
  operands_.clear();
  steps_.clear();
  scratch_.pending.clear();
  scratch_.open_blocks.clear();
  scratch_.ended_blocks.clear();
  if (!scratch_.mentioned.empty()) {
    // Clearing a map costs its capacity, and most regions never filled it.
    scratch_.mentioned.Clear();
  }
  scratch_.in_use = false;
}

void RegionBuilder::Reserve(size_t insts) {
  out_.insts.reserve(insts);
  out_.spans.reserve(insts);
  out_.block_insts.reserve(insts);
  operands_.reserve(insts);
  operands_.emplace_back();  // row 0: failed, what an unevaluated instruction is
}

void RegionBuilder::DeclareParameters() {
  for (const ir::SpecialisedMember& parameter : signature_->members) {
    if (parameter.access == ir::Access::kPlace) {
      continue;  // the version has decided it
    }
    out_.locals.push_back({.local = parameter.local,
                           .kind = ir::LocalKind::kParameter,
                           .access = parameter.access,
                           .name = parameter.name,
                           .type = parameter.type,
                           .relaxed = parameter.relaxed});
  }
}

// Every instruction is noted as pending in the block that is open. Its span is that of the generic
// instruction in progress, which is how a message about specialised code finds its place in the
// source.
ir::InstId RegionBuilder::Emit(const ir::Inst& inst) {
  // Rows, spans and the pending list grow in step: a row number is good for all of them.
  const ir::InstId id{static_cast<uint32_t>(out_.insts.size())};
  Push(out_.insts, inst);
  Push(out_.spans, module_.inst_spans.empty() ? ir::SpanId{} : module_.inst_spans[current_].main);
  Push(scratch_.pending, id.value);
  return id;
}

ir::ListId RegionBuilder::EmitList(std::span<const uint32_t> items) {
  const ir::ListId list{static_cast<uint32_t>(out_.extra.size())};
  out_.extra.push_back(static_cast<uint32_t>(items.size()));
  out_.extra.insert(out_.extra.end(), items.begin(), items.end());
  return list;
}

ir::InstId RegionBuilder::EmitConst(ir::ConstId value) {
  return Emit(ir::ConstInst{.type = pool_[value].type, .value = value}.To());
}

ir::InstId RegionBuilder::EmitUint(uint32_t value) {
  return EmitConst(pool_.InternScalar(pool_.Vector(ir::Scalar::kU32, 1), value));
}

Operand RegionBuilder::ValueOf(ir::InstId inst) const {
  Operand operand;
  operand.kind = OperandKind::kValue;
  operand.inst = inst;
  operand.type = TypeOf(inst);
  return operand;
}

Operand RegionBuilder::ResultOf(ir::InstId inst) const {
  Operand operand = ValueOf(inst);
  if (operand.type == pool_.void_type()) {
    operand.kind = OperandKind::kVoid;
  }
  return operand;
}

std::string RegionBuilder::TypeName(ir::TypeId type) const {
  if (type == pool_.bool_type()) {
    return module_.header.version >= 2 ? "b1" : "boolean";  // version 1 has no name for it
  }
  return type.valid() ? ir::TypeText(pool_, type) : std::string("void");
}

// A block has ended behind a terminator, behind a scope that has ended, and behind a choice of
// which both sides have. Whether a block inside has ended was noted when it was closed, so a
// question costs one look. Loops and switches are left through their exits; they are not followed.
bool RegionBuilder::RowsEnd(uint32_t first) const {
  // A block that has no rows yet cannot have ended, whatever the block around it holds.
  const std::vector<uint32_t>& rows = scratch_.pending;
  if (rows.size() <= first) {
    return false;
  }
  const ir::Inst& last = out_.insts[rows.back()];
  const auto ended = [&](uint32_t block) { return bool{scratch_.ended_blocks[block]}; };
  if (last.kind == ir::InstKind::kScope) {
    return ended(last.As<ir::ScopeInst>().block.value);
  }
  if (last.kind == ir::InstKind::kIf) {
    const std::span<const uint32_t> blocks = out_.List(last.As<ir::IfInst>().blocks);
    return blocks.size() == 2 && ended(blocks[0]) && ended(blocks[1]);
  }
  return ir::IsTerminator(last.kind);
}

// The rows of the block that ends are the last ones of the pending list. They are moved out, and
// what is left belongs to the block around.
ir::BlockId RegionBuilder::EndBlock() {
  const ir::BlockId id{static_cast<uint32_t>(out_.blocks.size())};
  const std::span<const uint32_t> insts =
      std::span(scratch_.pending).subspan(scratch_.open_blocks.back());
  // Rows are copied when a block ends, so the rows of a block lie together even if it has blocks
  // inside.
  out_.blocks.push_back({.first = static_cast<uint32_t>(out_.block_insts.size()),
                         .count = static_cast<uint32_t>(insts.size())});
  out_.block_insts.insert(out_.block_insts.end(), insts.begin(), insts.end());
  scratch_.ended_blocks.push_back(RowsEnd(scratch_.open_blocks.back()));
  DropBlock();
  return id;
}

// Gives up the rows of a block that shall not be there: instructions stay in the list but in no
// block.
void RegionBuilder::DropBlock() {
  scratch_.pending.resize(scratch_.open_blocks.back());
  scratch_.open_blocks.pop_back();
}

void RegionBuilder::Touched(const Operand& place, ir::MemberUse touch) {
  if (place.decl.valid()) {
    Mentioned(place.decl, place.member, place.direction, static_cast<uint8_t>(touch));
  }
}

// A mention is one row for each declaration and member, with everything that is done to it. The
// span is that of the first mention: messages point there.
void RegionBuilder::Mentioned(ir::DeclId decl, ir::MemberId member, ir::Direction direction,
                              uint8_t touches) {
  const auto key_of = [](ir::DeclId d, ir::MemberId m) {
    return uint64_t{d.value} << 32 | m.value;
  };
  const auto count = static_cast<uint32_t>(out_.mentions.size());
  if (count < kFewMentions) {
    for (ir::Mention& known : out_.mentions) {
      if (known.decl == decl && known.member == member) {
        known.touches |= touches;
        return;
      }
    }
  } else {
    FlatMap<uint64_t, uint32_t>& rows = scratch_.mentioned;
    // The first few were not in the map while they were few.
    for (auto row = static_cast<uint32_t>(rows.size()); row < count; ++row) {  // the first few
      rows.Insert(key_of(out_.mentions[row].decl, out_.mentions[row].member), row);
    }
    const auto [known, is_new] = rows.Insert(key_of(decl, member), count);
    if (!is_new) {
      out_.mentions[*known].touches |= touches;
      return;
    }
  }
  out_.mentions.push_back({.decl = decl,
                           .member = member,
                           .touches = touches,
                           .direction = direction,
                           .span = MainOf(current_).span_number == Location::kNone
                                       ? ir::SpanId{}
                                       : ir::SpanId{MainOf(current_).span_number}});
}

// Texts of types and families are made for messages and for argument roles, and the same ones come
// again with every call of a function. They are kept by a key in which the upper bits tell the
// kinds of text apart.
template <class Make>
std::string_view RegionBuilder::KnownText(uint64_t key, Make make) {
  const auto number = static_cast<uint32_t>(scratch_.texts.size());
  const auto [row, is_new] = scratch_.text_of.Insert(key, number);
  return is_new ? scratch_.texts.emplace_back(make()) : scratch_.texts[*row];
}

std::string_view RegionBuilder::FamilyText(ir::Builtin builtin, ir::TypeId type) {
  const uint64_t version = IsVersion2() ? 1 : 0;
  return KnownText(version << 62 | uint64_t{static_cast<uint32_t>(builtin)} << 32 | type.value,
                   [&] { return BuiltinText(builtin, TypeName(type)); });
}

std::string_view RegionBuilder::WrittenText(ir::TypeId open) {
  return KnownText(uint64_t{1} << 63 | uint64_t{module_ordinal_} << 32 | open.value,
                   [&] { return OpenTypeText(module_, open); });
}

// The type of a local variable; not `known`: this region did not need it so far.
ir::TypeId& RegionBuilder::LocalTypeOf(ir::LocalId local, bool& known) {
  // Locals are numbered through the program, so the table grows to the highest one that was asked
  // for.
  std::vector<SpecialiserScratch::LocalType>& types = scratch_.local_types;
  if (local.value >= types.size()) {
    types.resize(local.value + size_t{1});
  }
  SpecialiserScratch::LocalType& row = types[local.value];
  known = row.epoch == epoch_;
  row.epoch = epoch_;
  return row.type;
}

std::string RegionBuilder::TextOf(uint32_t inst) const {
  return OpenText(module_, ir::InstId{inst});
}

Location RegionBuilder::At(ir::SpanId span) const {
  return {.module = module_ordinal_, .span_number = span.value, .bytes = module_.SpanOf(span)};
}

Location RegionBuilder::MainOf(uint32_t inst) const {
  return At(module_.inst_spans.empty() ? ir::SpanId{} : module_.inst_spans[inst].main);
}

Location RegionBuilder::AuxOf(uint32_t inst) const {
  // The location of an operator or a name, where the instruction has one.
  if (module_.inst_spans.empty() || !module_.inst_spans[inst].aux.valid()) {
    return MainOf(inst);
  }
  return At(module_.inst_spans[inst].aux);
}

}  // namespace kiln::resolve
