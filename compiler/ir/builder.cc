// SPDX-License-Identifier: MIT
// Tables of a generic module while they grow. Equal rows are one row: that makes ids of types,
// constants and expressions comparable, and equal sources equal images. Nesting is counted as rows
// come in, because a row never changes what it holds; a front end that nests deeper than
// VerifyIds allows is stopped here.
#include "compiler/ir/builder.h"

#include <algorithm>
#include <utility>

#include "compiler/base/check.h"
#include "compiler/base/digest.h"
#include "compiler/ir/module_files.h"
#include "compiler/ir/operands.h"
#include "compiler/source/line_index.h"

namespace kiln::ir {
namespace {

// Rows have no padding, so their bytes may be hashed as they lie.
template <class Row>
uint64_t HashRow(const Row& row) {
  return Hash64(std::as_bytes(std::span(&row, 1)));
}

// The number of `row` in `rows`, added if it is new.
template <class Row>
uint32_t InternRow(InternIndex& index, std::vector<Row>& rows, const Row& row) {
  return index.FindOrAdd(
      HashRow(row), [&](uint32_t i) { return rows[i] == row; },
      [&] {
        rows.push_back(row);
        return static_cast<uint32_t>(rows.size() - 1);
      });
}

// A front end has its own limit with a message and stays below this one; what goes beyond is a
// fault of the front end.
uint16_t CheckNesting(uint32_t nesting) {
  KILN_CHECK(nesting <= kMaxNesting, "nested {} levels deep", nesting);
  return static_cast<uint16_t>(nesting);
}

template <class Row>
uint32_t Count(const std::vector<Row>& rows) {
  return static_cast<uint32_t>(rows.size());
}

}  // namespace

// The value `true` is what every condition that is not written points at, so it has a row that is
// known everywhere.
Builder::Builder(const ModuleHeader& header, CutPolicy policy) : header_(header), policy_(policy) {
  Literal(ValueKind::kFlag, 1);  // row 0 is `true`
}

TypeId Builder::Intern(const Type& type) {
  KILN_CHECK(type.kind != TypeKind::kStruct, "a struct is named");
  const TypeId id{InternRow(type_index_, types_, type)};
  // A new row has a number behind all known ones; only then its nesting is not counted yet.
  if (id.value == type_nesting_.size()) {
    const bool has_item = type.kind == TypeKind::kArray || type.kind == TypeKind::kRuntimeArray;
    type_nesting_.push_back(CheckNesting(has_item ? type_nesting_[type.element] + 1u : 1u));
  }
  return id;
}

TypeId Builder::Named(std::string_view name) {
  return Intern({.kind = TypeKind::kNamed, .element = Text(name).value});
}

TypeId Builder::RuntimeArray(TypeId element) {
  return Intern({.kind = TypeKind::kRuntimeArray, .element = element.value});
}

TypeId Builder::Image(Scalar sampled, const ImageTraits& traits) {
  return Intern({.kind = TypeKind::kImage, .scalar = sampled, .extent = PackImage(traits)});
}

// Bits and not values: constants are compared by them, so 0.0 and -0.0 are two constants and a NaN
// is equal to itself.
ConstId Builder::ScalarConst(TypeId type, uint64_t bits) {
  return ConstId{InternRow(
      const_index_, consts_,
      {.type = type, .a = static_cast<uint32_t>(bits), .high = static_cast<uint32_t>(bits >> 32)})};
}

ConstId Builder::CompositeConst(TypeId type, ListId parts) {
  return ConstId{
      InternRow(const_index_, consts_, {.type = type, .a = parts.value, .composite = 1})};
}

CexprId Builder::Intern(const Cexpr& cexpr) {
  const CexprId id{InternRow(cexpr_index_, cexprs_, cexpr)};
  if (id.value == cexpr_nesting_.size()) {
    cexpr_nesting_.push_back(CheckNesting(NestingOf(cexpr)));
  }
  return id;
}

uint32_t Builder::NestingOf(const Cexpr& cexpr) const {
  uint32_t below = 0;
  uint32_t left = 0;  // of a chain, which adds no level
  const auto use = [&](uint32_t operand) {
    KILN_CHECK(operand < cexpr_nesting_.size(), "operand {} of cexpr {}", operand,
               cexpr_nesting_.size());
    below = std::max<uint32_t>(below, cexpr_nesting_[operand]);
  };
  const CexprShape shape = ShapeOf(cexpr.op);
  if (shape == CexprShape::kUnary || shape == CexprShape::kSelect) {
    use(cexpr.a);
  }
  // The left side of a sum may be thousands of terms long and adds no level (ids.h).
  if (shape == CexprShape::kBinary) {
    use(cexpr.a);
    left = std::exchange(below, 0);
    use(cexpr.b);
  }
  // These operands are a list; the list of an empty one is not valid and has no operands.
  if (shape == CexprShape::kSelect || shape == CexprShape::kComposite) {
    std::ranges::for_each(ListAt(ListId{cexpr.b}), use);
  }
  return std::max(left, below + 1);
}

CexprId Builder::Literal(ValueKind kind, uint32_t bits) {
  return Intern({.op = CexprOp::kLiteral, .kind = static_cast<uint16_t>(kind), .a = bits});
}

CexprId Builder::Name(std::string_view name) {
  return Intern({.op = CexprOp::kName, .a = Text(name).value});
}

// Equal lists are one list, as most are short and repeat: arguments of one name, pairs of blocks.
ListId Builder::List(std::span<const uint32_t> words) {
  return ListId{list_index_.FindOrAdd(
      Hash64(std::as_bytes(words)),
      [&](uint32_t i) { return std::ranges::equal(ListAt(ListId{i}), words); },
      [&] {
        const uint32_t position = Count(extra_);
        extra_.push_back(static_cast<uint32_t>(words.size()));
        extra_.insert(extra_.end(), words.begin(), words.end());
        return position;
      })};
}

// A list of its own even if an equal one exists: for lists whose words are set later.
ListId Builder::NewList(std::span<const uint32_t> words) {
  const ListId list{Count(extra_)};
  extra_.push_back(static_cast<uint32_t>(words.size()));
  extra_.insert(extra_.end(), words.begin(), words.end());
  return list;
}

// Estimates from the size of the source. They save growing and need not be right.
void Builder::Reserve(size_t insts) {
  insts_.reserve(insts);
  inst_spans_.reserve(insts);
  inst_nesting_.reserve(insts);
  block_insts_.reserve(insts);
  spans_.reserve(insts * 2);
  extra_.reserve(insts / 2);
}

std::span<const uint32_t> Builder::ListAt(ListId id) const {
  return id.valid() ? std::span(extra_).subspan(id.value + 1, extra_[id.value])
                    : std::span<const uint32_t>{};
}

SpanId Builder::AddSpan(Span span) {
  spans_.push_back(span);
  return SpanId{Count(spans_) - 1};
}

// The spans of one expression lie one behind the other, so the number of the first gives them all.
SpanId Builder::AddRun(std::span<const Span> run) {
  if (run.empty()) {
    return {};
  }
  spans_.insert(spans_.end(), run.begin(), run.end());
  return SpanId{Count(spans_) - static_cast<uint32_t>(run.size())};
}

OptionId Builder::Add(const Option& option) {
  options_.push_back(option);
  return OptionId{Count(options_) - 1};
}

// Members of a declaration have to be consecutive, and those of a function are added while it is
// open. So nothing else may be declared meanwhile.
DeclId Builder::AddRow(Decl decl, const DeclSpans& spans) {
  KILN_CHECK(!function_.valid(), "function {} has not ended", function_);
  decl.first_member = Count(members_);
  decls_.push_back(decl);
  decl_spans_.push_back(spans);
  return DeclId{Count(decls_) - 1};
}

DeclId Builder::Add(Decl decl, const DeclSpans& spans, std::span<const Member> members,
                    std::span<const MemberSpans> member_spans) {
  KILN_CHECK(decl.kind != DeclKind::kFunction && members.size() == member_spans.size());
  decl.member_count = static_cast<uint32_t>(members.size());
  const DeclId id = AddRow(decl, spans);
  members_.insert(members_.end(), members.begin(), members.end());
  member_spans_.insert(member_spans_.end(), member_spans.begin(), member_spans.end());
  return id;
}

DeclId Builder::BeginFunction(Decl decl, const DeclSpans& spans) {
  KILN_CHECK(decl.kind == DeclKind::kFunction);
  decl.member_count = 0;
  function_ = AddRow(decl, spans);
  first_local_ = Count(locals_);
  BeginBlock();
  return function_;
}

// Locals are numbered as they come, which is the order of the source.
LocalId Builder::AddLocalRow(const Local& local, const LocalSpans& spans) {
  KILN_CHECK(function_.valid());
  locals_.push_back(local);
  local_spans_.push_back(spans);
  return LocalId{Count(locals_) - 1};
}

LocalId Builder::AddParameter(Local parameter, const LocalSpans& spans) {
  KILN_CHECK(function_.valid());
  Decl& decl = decls_[function_.value];
  // A parameter is a local and a member at once; both tables rely on the parameters being the first
  // ones.
  KILN_CHECK(Count(locals_) == first_local_ + decl.member_count, "parameters come first");
  parameter.kind = LocalKind::kParameter;
  const LocalId id = AddLocalRow(parameter, spans);
  members_.push_back({.name = parameter.name,
                      .condition = parameter.condition,
                      .type = parameter.type,
                      .kind = MemberKind::kParameter,
                      .access = parameter.access,
                      .value = id.value});
  member_spans_.push_back({.name = spans.name, .condition = spans.condition, .type = spans.type});
  ++decl.member_count;
  return id;
}

LocalId Builder::AddLocal(const Local& local, const LocalSpans& spans) {
  KILN_CHECK(local.kind != LocalKind::kParameter);
  return AddLocalRow(local, spans);
}

// Blocks are numbered when they begin and filled when they end, because blocks inside of them end
// first.
BlockId Builder::BeginBlock() {
  KILN_CHECK(function_.valid());
  const BlockId id{Count(blocks_)};
  blocks_.push_back({});
  block_nesting_.push_back(0);
  block_ends_path_.push_back(false);
  block_uses_outer_.push_back(false);
  open_blocks_.push_back({.block = id, .first = Count(open_insts_), .first_inst = Count(insts_)});
  return id;
}

void Builder::EndBlock() {
  KILN_CHECK(!open_blocks_.empty());
  const OpenBlock block = open_blocks_.back();
  open_blocks_.pop_back();
  // The instructions of open blocks share one stack; those of this block are what lies above its
  // beginning.
  const std::span<const uint32_t> insts = std::span(open_insts_).subspan(block.first);
  blocks_[block.block.value] = {.first = Count(block_insts_),
                                .count = static_cast<uint32_t>(insts.size())};
  block_insts_.insert(block_insts_.end(), insts.begin(), insts.end());
  const CutTables tables = TablesToCut();
  uint32_t nesting = 0;
  bool ends = false;
  for (const uint32_t inst : insts) {
    nesting = std::max<uint32_t>(nesting, inst_nesting_[inst]);
    ends = ends || EndsPath(insts_[inst], tables);
  }
  block_nesting_[block.block.value] = static_cast<uint16_t>(nesting);
  block_ends_path_[block.block.value] = ends;
  // A block that uses a value from outside cannot become a region. Operands have smaller numbers
  // than the block's first instruction exactly if they are from outside.
  for (const uint32_t inst : header_.typed != 0 ? insts : std::span<const uint32_t>{}) {
    if (lowest_operand_[inst] < block.first_inst) {
      block_uses_outer_[block.block.value] = true;
    }
  }
  open_insts_.resize(block.first);
}

// Instructions are added after everything that they use: operands and the blocks in them have
// numbers already.
InstId Builder::AddInst(const Inst& inst, const InstSpans& spans) {
  const Form form = header_.typed != 0 ? Form::kTypedGeneric : Form::kUntyped;
  KILN_CHECK(!open_blocks_.empty() && Includes(FactsOf(inst.kind).form, form), "kind {}",
             inst.kind);
  if (inst.kind == InstKind::kAlias) {
    const AliasInst alias = inst.As<AliasInst>();
    locals_[alias.local.value].block = alias.block.value;
  }
  const InstId id{Count(insts_)};
  inst_nesting_.push_back(CheckNesting(NestingOf(inst)));
  // Only typed modules have values across blocks; in untyped ones expressions are trees within a
  // statement.
  if (header_.typed != 0) {
    lowest_operand_.push_back(LowestOperandOf(inst));
  }
  insts_.push_back(inst);
  inst_spans_.push_back(spans);
  open_insts_.push_back(id.value);
  return id;
}

// Values that an instruction and the blocks in it use; what is inside was added before.
uint32_t Builder::LowestOperandOf(const Inst& inst) const {
  uint32_t lowest = kNoRow;
  const auto lists = [this](ListId id) { return ListAt(id); };
  ForEachInstOperand(inst, lists, [&](uint32_t operand) { lowest = std::min(lowest, operand); });
  ForEachOwnedBlock(inst, lists, [&](uint32_t block) {
    const Block& row = blocks_[block];
    for (const uint32_t nested : std::span(block_insts_).subspan(row.first, row.count)) {
      lowest = std::min(lowest, lowest_operand_[nested]);
    }
  });
  return lowest;
}

// A left operand adds no level: chains are as long as sources make them (ids.h).
uint32_t Builder::NestingOf(const Inst& inst) const {
  uint32_t below = 0;
  uint32_t left = 0;
  if (header_.typed != 0) {  // nothing recurses over operands there
    ForEachOwnedBlock(
        inst, [this](ListId id) { return ListAt(id); },
        [&](uint32_t block) { below = std::max<uint32_t>(below, block_nesting_[block]); });
    return below + 1;
  }
  const auto use_inst = [&](uint32_t operand, uint32_t& level) {
    KILN_CHECK(operand < insts_.size(), "operand {} of instruction {}", operand, insts_.size());
    level = std::max<uint32_t>(level, inst_nesting_[operand]);
  };
  const auto use_block = [&](uint32_t block) {
    KILN_CHECK(block < blocks_.size(), "block {} of {}", block, blocks_.size());
    below = std::max<uint32_t>(below, block_nesting_[block]);
  };
  bool first = IsChain(inst.kind);
  // The first operand of a chain is its left side; for all others `first` is false from the start.
  for (const Operand& operand : OperandsOf(inst)) {
    uint32_t& level = std::exchange(first, false) ? left : below;
    if (operand.schema == OperandSchema::kInst ||
        (operand.schema == OperandSchema::kOptInst && operand.word != kNoRow)) {
      use_inst(operand.word, level);
    } else if (operand.schema == OperandSchema::kInsts) {
      for (const uint32_t word : ListAt(ListId{operand.word})) {
        use_inst(word, level);
      }
    } else if (operand.schema == OperandSchema::kBlock) {
      use_block(operand.word);
    } else if (operand.schema == OperandSchema::kBlocks) {
      std::ranges::for_each(ListAt(ListId{operand.word}), use_block);
    }
  }
  return std::max(left, below + 1);
}

CutTables Builder::TablesToCut() {
  return {.insts = insts_,
          .inst_spans = inst_spans_,
          .blocks = blocks_,
          .block_insts = block_insts_,
          .extra = extra_,
          .block_ends_path = block_ends_path_,
          .block_uses_outer = block_uses_outer_,
          .regions = regions_,
          .region_spans = region_spans_};
}

void Builder::AddIfSaid(AttributeOwner owner, AttributeKey key, uint32_t a, uint32_t b) {
  if (a != kNoRow) {
    Add(Attribute{.of_member = static_cast<uint16_t>(owner.is_member ? 1 : 0),
                  .key = key,
                  .owner = owner.row,
                  .a = a,
                  .b = b});
  }
}

// A single bool is an instruction of its own; all else is a constant, and of several items one that
// names the same item again and again.
InstId Builder::AddRepeated(Scalar scalar, uint32_t count, uint64_t bits, const InstSpans& spans) {
  const TypeId one = Vector(scalar, 1);
  if (scalar == Scalar::kBool && count == 1) {
    return Add(FlagInst{one, static_cast<uint32_t>(bits)}, spans);
  }
  const ConstId item = ScalarConst(one, bits);
  if (count == 1) {
    return Add(ConstInst{one, item}, spans);
  }
  const TypeId type = Vector(scalar, static_cast<uint8_t>(count));
  return Add(ConstInst{type, CompositeConst(type, Ids(std::vector<ConstId>(count, item)))}, spans);
}

// The function is cut as a whole when it is complete, since whether a block ends its path is known
// only then.
void Builder::EndFunction() {
  KILN_CHECK(function_.valid() && open_blocks_.size() == 1, "{} open blocks", open_blocks_.size());
  const BlockId body = open_blocks_.back().block;
  EndBlock();
  decls_[function_.value].body = static_cast<uint32_t>(regions_.size());
  const size_t first_region = regions_.size();
  std::vector<std::vector<uint32_t>> locals =
      RegionCutter(TablesToCut(), policy_).Cut(function_, body);  // by region of this function
  for (uint32_t i = 0; i < decls_[function_.value].member_count; ++i) {
    // Parameters belong to the first region, which is the body.
    locals[0].push_back(first_local_ + i);
  }
  for (size_t i = 0; i < locals.size(); ++i) {
    std::ranges::sort(locals[i]);  // rows of one module are numbered in source order
    regions_[first_region + i].locals = List(locals[i]);
  }
  function_ = {};
}

void Builder::SetSource(std::string_view text) {
  line_starts_.clear();
  AddLineStarts(text, 0);
}

void Builder::SetSources(const ModuleFiles& files, std::span<const std::string_view> texts) {
  KILN_CHECK(files.files.size() == texts.size());
  line_starts_.clear();
  for (size_t i = 0; i < texts.size(); ++i) {
    AddLineStarts(texts[i], files.files[i].first);
  }
  files_ = EncodeFiles(files);
}

// In one range of offsets for all files of a module, like spans.
void Builder::AddLineStarts(std::string_view text, uint32_t first) {
  const LineIndex lines(text);
  for (uint32_t line = 1; line <= lines.line_count(); ++line) {
    line_starts_.push_back(first + lines.LineSpan(line).begin);
  }
}

// The image is made once and not changed any more. It is what is hashed, cached and verified.
Module Builder::Finish(const Hash128& fingerprint) {
  KILN_CHECK(!function_.valid(), "function {} has not ended", function_);
  std::vector<uint32_t> string_ends;
  std::vector<char> string_bytes;
  for (uint32_t i = 0; i < strings_.size(); ++i) {
    const std::string_view text = strings_[StringId{i}];
    string_bytes.insert(string_bytes.end(), text.begin(), text.end());
    string_ends.push_back(static_cast<uint32_t>(string_bytes.size()));
  }
  // Sorted by owner, because readers search for the attributes of one by halving. Stable, so those
  // of one owner keep their order.
  std::ranges::stable_sort(attributes_, [](const Attribute& a, const Attribute& b) {
    return std::pair(a.of_member, a.owner) < std::pair(b.of_member, b.owner);
  });
  const ModuleView tables{.header = header_,
                          .types = types_,
                          .consts = consts_,
                          .cexprs = cexprs_,
                          .options = options_,
                          .decls = decls_,
                          .members = members_,
                          .locals = locals_,
                          .regions = regions_,
                          .insts = insts_,
                          .blocks = blocks_,
                          .block_insts = block_insts_,
                          .extra = extra_,
                          .string_ends = string_ends,
                          .string_bytes = string_bytes,
                          .attributes = attributes_,
                          .spans = spans_,
                          .decl_spans = decl_spans_,
                          .member_spans = member_spans_,
                          .local_spans = local_spans_,
                          .region_spans = region_spans_,
                          .inst_spans = inst_spans_};
  return WriteModule(tables, {.line_starts = line_starts_, .files = files_}, fingerprint);
}

}  // namespace kiln::ir
