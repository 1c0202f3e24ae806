// SPDX-License-Identifier: MIT
#include "compiler/emit/spirv/code_object_store.h"

#include <algorithm>
#include <compare>
#include <tuple>

#include "compiler/base/check.h"
#include "compiler/base/threads/stop.h"

namespace kiln::spirv {
namespace {

// Hashes only choose a bucket; equality is always compared in full. So they may depend on symbol
// ids, which are names given in order of meeting, without any output depending on them.
uint64_t HashOf(uint64_t hash, std::span<const uint32_t> words) {
  return Mix64(hash ^ Hash64(std::as_bytes(words)));
}

uint64_t HashOf(const Symbol& symbol) {
  const uint64_t first = uint64_t{symbol.a} << 32 | symbol.b;
  const uint64_t second = uint64_t{static_cast<uint32_t>(symbol.kind)} << 32 | symbol.c;
  return Mix64(Mix64(first) ^ second);
}

// The position of an import is hashed with its symbol, since its word in the part is zero for all
// symbols: without the imports all pointers of a storage class would collide.
uint64_t HashOf(const CodeObjectWriter& writer) {
  uint64_t hash = 0;
  for (const Words& part : writer.parts) {
    if (part.words.empty()) {
      continue;
    }
    hash = HashOf(hash, part.words);
    for (const SymbolRelocation& import : part.imports) {
      hash = Mix64(hash ^ (uint64_t{import.position} << 32 | import.symbol.value));
    }
  }
  return hash;
}

// The row of a table that grows with the ids that are asked for. Ids are dense, so this beats a
// hash table, and a symbol is found for every operand that is lowered.
SymbolId& Row(std::vector<SymbolId>& rows, size_t row) {
  if (row >= rows.size()) {
    rows.resize(row + 1, kNoSymbol);
  }
  return rows[row];
}

}  // namespace

// Room for a very small program, so that one that is built once does not grow word by word, and a
// thousand of them do not keep what nobody fills.
CodeObjectStore::CodeObjectStore() {
  words_.resize(2048);
  own_masks_.resize(2048);
  imports_.reserve(512);
  bits_.reserve(256);
  // Row 0 is nobody's symbol: its number stays zero, so that adding the number of a symbol to a
  // word of a declaration needs no branch (module_numbering).
  symbols_.Add({SymbolKind::kLocal, ~0u, ~0u, ~0u});  // kNoSymbol
  global_of_.emplace_back();
}

template <class T>
Range<T> CodeObjectStore::Append(std::vector<T>& rows, std::span<const T> more) {
  const Range<T> range{static_cast<uint32_t>(rows.size()), static_cast<uint32_t>(more.size())};
  rows.insert(rows.end(), more.begin(), more.end());
  return range;
}

// Copies the words of a part into the arena and makes the mask beside them: all ones where the word
// is an own id, so that `word + (mask & base)` relocates without a branch. The copy routines read
// in steps of eight words and may read past the end, hence the slack, whose masks must be zero.
Section CodeObjectStore::Append(const Words& words) {
  // resolve/checks/spirv_limits refuses what would be.
  KILN_CHECK(!words.is_overlong, "an instruction of more than 65,535 words");
  const auto count = static_cast<uint32_t>(words.words.size());
  const uint32_t first = word_count_;
  // A word and its mask.
  ChargeMemory(count * 2 * sizeof(uint32_t) + words.imports.size() * sizeof(SymbolRelocation));
  const size_t end = size_t{first} + count + kCopySlack;
  if (end > words_.size()) {
    words_.resize(std::max(end, 2 * words_.size()));
    own_masks_.resize(words_.size());
  }
  word_count_ += count;
  std::copy(words.words.begin(), words.words.end(), words_.data() + first);
  uint32_t* const masks = own_masks_.data() + first;
  std::fill_n(masks, count + kCopySlack, 0u);
  for (const uint32_t position : words.own) {
    masks[position] = ~0u;
  }
  return {.words = {first, count}, .imports = Append<SymbolRelocation>(imports_, words.imports)};
}

// Equal symbols get one id. `global_of_` grows along, so that it can be indexed by every symbol.
SymbolId CodeObjectStore::Intern(const Symbol& symbol) {
  const uint32_t row = symbol_index_.FindOrAdd(
      HashOf(symbol), [&](uint32_t i) { return symbols_[SymbolId{i}] == symbol; },
      [&] {
        global_of_.emplace_back();
        return symbols_.Add(symbol).value;
      });
  return SymbolId{row};
}

// After an edit of the source the same code has other LocalIds and RegionIds. Their numbers are
// replaced in place, and all hash values with them, so that code objects survive the edit. The
// tables by number are dropped and fill again.
void CodeObjectStore::Relink(const std::function<uint32_t(uint32_t)>& local,
                             const std::function<uint32_t(uint32_t)>& region) {
  symbol_index_.Clear();
  local_symbols_.clear();
  for (uint32_t i = kNoSymbol.value + 1; i < symbols_.size(); ++i) {
    Symbol& symbol = symbols_[SymbolId{i}];
    if (symbol.kind == SymbolKind::kLocal) {
      symbol.a = local(symbol.a);
    }
    // Different locals stay different, so nothing can be equal to what is in the index already: the
    // comparison is skipped.
    (void)symbol_index_.FindOrAdd(
        HashOf(symbol), [](uint32_t) { return false; }, [i] { return i; });
  }
  for (InsertionPoint& point : insertion_points_) {
    point.region = ir::RegionId{region(point.region.value)};
  }
}

SymbolId CodeObjectStore::Function(ir::DeclId function) {
  SymbolId& known = Row(function_symbols_, function.value);
  if (known == kNoSymbol) {
    known = Intern({SymbolKind::kFunction, function.value, 0, 0});
  }
  return known;
}

SymbolId CodeObjectStore::Local(ir::LocalId local, LocalRole role) {
  const auto role_number = static_cast<uint32_t>(role);
  SymbolId& known = Row(local_symbols_, 2 * size_t{local.value} + role_number);
  if (known == kNoSymbol) {
    known = Intern({SymbolKind::kLocal, local.value, role_number, 0});
  }
  return known;
}

// A mark and GoBack are how the code objects of one variant are dropped together: everything is an
// arena, so it is enough to remember how long each was. Globals and symbols stay; a code object
// that is kept may name them.
CodeObjectStore::Mark CodeObjectStore::End() const {
  return {.objects = objects_.size(),
          .imports = imports_.size(),
          .reserved = reserved_.size(),
          .bits = bits_.size(),
          .slots = slots_.size(),
          .insertion_points = insertion_points_.size(),
          .flows = flows_.size(),
          .conditionals = conditionals_.size(),
          .words = word_count_};
}

void CodeObjectStore::GoBack(const Mark& mark) {
  objects_.resize(mark.objects);
  imports_.resize(mark.imports);
  reserved_.resize(mark.reserved);
  bits_.resize(mark.bits);
  slots_.resize(mark.slots);
  insertion_points_.resize(mark.insertion_points);
  flows_.resize(mark.flows);
  conditionals_.resize(mark.conditionals);
  word_count_ = mark.words;
}

SymbolId CodeObjectStore::Variable(ir::DeclId decl, ir::MemberId member, ir::Direction direction,
                                   spv::StorageClass storage) {
  const SymbolId id =
      Intern({SymbolKind::kVariable, decl.value, member.value, static_cast<uint32_t>(direction)});
  // The variable is known as a global without words, because its form depends on the declaration's
  // version: which one is live is found out for each module (ModuleCollector::BindInterface).
  if (!global_of_[id.value].valid()) {
    AddGlobal(id, {.storage = storage});
  }
  return id;
}

// The pairs are kept in a list and not only in the map, so that the walk over them has an order.
// What it does with them is a union of bits, so the order shows nowhere.
void CodeObjectStore::AddVarying(GlobalId in, GlobalId out) {
  if (varying_of_.Insert(in, out).second) {
    varyings_.push_back({in, out});
  }
}

SymbolId CodeObjectStore::InternGlobal(const CodeObjectWriter& writer, SymbolKind kind,
                                       spv::StorageClass storage) {
  const uint32_t row = shape_index_.FindOrAdd(
      HashOf(writer), [&](uint32_t i) { return Equal(globals_[GlobalId{i}].object, writer); },
      [&] {
        // every global of this kind has a symbol of its own: its number makes it unique
        const SymbolId symbol = Intern({kind, globals_.size(), 0, 0});
        // Kinds before kStageVariable are imports, types and constants. No set of needs is made for
        // them: NeedsOf follows operands, so the set of whatever uses them holds what they need.
        const CodeObjectId object =
            kind < SymbolKind::kStageVariable ? AddWords(writer) : Add(writer);
        AddGlobal(symbol, {.object = object, .storage = storage});
        return globals_.size() - 1;
      });
  return globals_[GlobalId{row}].symbol;
}

// A linear search, but of a short stretch: the stage variables stand at the head of the variables
// in the canonical order, and there are as many as the language has.
GlobalId CodeObjectStore::FindStageVariable(ir::StageVariable variable) const {
  for (const OrderedGlobal& row : order().subspan(first_variable_)) {
    const Symbol& symbol = symbols_[row.symbol];
    if (symbol.kind != SymbolKind::kStageVariable) {
      break;  // stage variables come first
    }
    if (symbol.a == static_cast<uint32_t>(variable)) {
      return row.global;
    }
  }
  return {};
}

CodeObjectId CodeObjectStore::Add(const CodeObjectWriter& writer) {
  CheckStop();  // what a code object needs is as long as there are globals
  const CodeObjectId id = AddWords(writer);
  objects_[id.value].globals = NeedsOf(objects_[id.value]);
  return id;
}

// Copies what a writer holds into the arenas. Conditional words count too: `word_count` is a bound
// for the room that a module takes, and whether they are written is decided when it is.
CodeObjectId CodeObjectStore::AddWords(const CodeObjectWriter& writer) {
  CodeObject object;
  for (uint32_t i = 0; i < kPartCount; ++i) {
    object.parts[i] = Append(writer.parts[i]);
    object.word_count += object.parts[i].words.count;
  }
  object.own_ids = writer.own_ids;
  object.needs = writer.needs;
  object.end = writer.end;
  object.reserved = Append<SymbolId>(reserved_, writer.reserved);
  object.slots = Append<LayoutRelocation>(slots_, writer.slots);
  object.insertion_points = Append<InsertionPoint>(insertion_points_, writer.insertion_points);
  object.flows = Append<Flow>(flows_, writer.flows);
  object.conditionals.first = static_cast<uint32_t>(conditionals_.size());
  for (const CodeObjectWriter::ConditionalWords& c : writer.conditionals) {
    conditionals_.push_back({c.parameter, Append(c.words)});
    object.word_count += static_cast<uint32_t>(c.words.words.size());
    ++object.conditionals.count;
  }
  objects_.push_back(object);
  return CodeObjectId{static_cast<uint32_t>(objects_.size() - 1)};
}

uint32_t CodeObjectStore::PartWords(CodeObjectId id) const {
  uint32_t count = 0;
  for (const Section& section : objects_[id.value].parts) {
    count += section.words.count;
  }
  return count;
}

// Marks the globals among some imports as needed, each once, and puts new ones on the list of those
// whose own operands are still to be looked at.
void CodeObjectStore::Need(std::span<const SymbolRelocation> imports) {
  for (const SymbolRelocation& import : imports) {
    const GlobalId global = GlobalOf(import.symbol);
    if (!global.valid()) {
      continue;
    }
    uint64_t& word = scratch_bits_[global.value / 64];
    const uint64_t bit = uint64_t{1} << (global.value % 64);
    if ((word & bit) == 0) {
      word |= bit;
      scratch_needed_.push_back(global);
    }
  }
}

// Everything that the code object needs, with all that those need: a walk over the operands with a
// list in place of recursion. It is paid once for a code object, and collecting a module is then a
// union of bit sets. A variable without words ends the walk; its operands are those of a version,
// which the collector adds.
Range<uint64_t> CodeObjectStore::NeedsOf(const CodeObject& object) {
  scratch_bits_.assign((globals_.size() + size_t{63}) / 64, 0);
  for (const Section& section : object.parts) {
    Need(ImportsOf(section));
  }
  while (!scratch_needed_.empty()) {
    const CodeObjectId needed = globals_[scratch_needed_.back()].object;
    scratch_needed_.pop_back();
    if (needed.valid()) {
      Need(ImportsOf(objects_[needed.value].part(Part::kDeclarations)));
    }
  }
  return Append<uint64_t>(bits_, scratch_bits_);
}

// Parts other than the declaration of a global mention nothing but itself.
void CodeObjectStore::AddGlobal(SymbolId symbol, Global global) {
  // The depth of a global is one more than the largest depth of its operands. It is part of the
  // canonical order, which therefore has operands before their users.
  global.symbol = symbol;
  if (global.object.valid()) {
    for (const SymbolRelocation& import :
         ImportsOf(objects_[global.object.value].part(Part::kDeclarations))) {
      global.depth = std::max(global.depth, globals_[GlobalOf(import.symbol)].depth + 1);
    }
  }
  const GlobalId id = globals_.Add(global);
  global_of_[symbol.value] = id;
  added_.push_back(id);
}

// Operands of a global belong to a group before its own.
std::pair<SymbolKind, uint32_t> CodeObjectStore::GroupOf(GlobalId id) const {
  return {symbols_[globals_[id].symbol].kind, globals_[id].depth};
}

void CodeObjectStore::PutInOrder(const OrderedGlobal& row,
                                 std::vector<OrderedGlobal>& order) const {
  ranks_[row.global.value] = static_cast<uint32_t>(order.size());
  order.push_back(row);
}

// Merges a group that was added with what was there: `old` is left at what comes behind the group.
void CodeObjectStore::Place(std::span<GlobalId> group, std::span<const OrderedGlobal>& old,
                            std::vector<OrderedGlobal>& order) const {
  const auto of_group = GroupOf(group.front());
  while (!old.empty() && GroupOf(old.front().global) < of_group) {
    PutInOrder(old.front(), order);
    old = old.subspan(1);
  }
  std::ranges::sort(group, [&](GlobalId a, GlobalId b) { return std::is_lt(Compare(a, b)); });
  for (const GlobalId id : group) {
    // Equal is impossible, since equal globals are one. So the order does not depend on which of
    // the two lists an entry came from.
    while (!old.empty() && GroupOf(old.front().global) == of_group &&
           std::is_lt(Compare(old.front().global, id))) {
      PutInOrder(old.front(), order);
      old = old.subspan(1);
    }
    const Global& global = globals_[id];
    PutInOrder({id, global.symbol, global.object, of_group.first == SymbolKind::kInstructionSet},
               order);
  }
}

// What is compared are the ranks of operands, which are those of the new order already: it is made
// group by group.
void CodeObjectStore::Settle() const {
  if (added_.empty()) {
    return;
  }
  // Groups are taken in ascending order, because a comparison inside of a group needs the final
  // ranks of the operands, and those lie in groups before it.
  std::ranges::sort(added_, {}, [&](GlobalId id) { return GroupOf(id); });
  ranks_.resize(globals_.size());
  std::vector<OrderedGlobal> order;
  order.reserve(globals_.size());
  std::span<const OrderedGlobal> old = order_;
  for (std::span<GlobalId> rest = added_; !rest.empty();) {
    const auto end = std::ranges::find_if(
        rest, [&](GlobalId id) { return GroupOf(id) != GroupOf(rest.front()); });
    const auto count = static_cast<size_t>(end - rest.begin());
    Place(rest.first(count), old, order);
    rest = rest.subspan(count);
  }
  for (const OrderedGlobal& row : old) {
    PutInOrder(row, order);
  }
  order_ = std::move(order);
  added_.clear();
  first_variable_ =
      static_cast<uint32_t>(std::ranges::lower_bound(order_, SymbolKind::kStageVariable, {},
                                                     [&](const OrderedGlobal& row) {
                                                       return symbols_[row.symbol].kind;
                                                     }) -
                            order_.begin());
}

// Whether a global has the words of the writer. A variable without words of its own equals nothing:
// it is known by its declaration. Masks need no comparison, because equal words of one instruction
// have their ids at the same places.
bool CodeObjectStore::Equal(CodeObjectId object, const CodeObjectWriter& writer) const {
  if (!object.valid()) {
    return false;
  }
  for (uint32_t i = 0; i < kPartCount; ++i) {
    const Section& section = objects_[object.value].parts[i];
    const auto same_import = [](const SymbolRelocation& a, const SymbolRelocation& b) {
      return a.position == b.position && a.symbol == b.symbol;
    };
    if (!std::ranges::equal(WordsOf(section), writer.parts[i].words) ||
        !std::ranges::equal(ImportsOf(section), writer.parts[i].imports, same_import)) {
      return false;
    }
  }
  return true;
}

// The canonical order is by content. Only the last case compares numbers, and these are the rows of
// declarations and members of the program, which are the same however it was lowered.
std::strong_ordering CodeObjectStore::Compare(GlobalId a, GlobalId b) const {
  CheckStop();  // there are as many globals as a source has names for them
  const Symbol& left = symbols_[globals_[a].symbol];
  const Symbol& right = symbols_[globals_[b].symbol];
  if (left.kind != right.kind) {
    return left.kind <=> right.kind;
  }
  switch (left.kind) {
    case SymbolKind::kInstructionSet:
    case SymbolKind::kSourceFile:
    case SymbolKind::kType:
    case SymbolKind::kSpecConstant:
    case SymbolKind::kConstantVariable:
      return CompareShapes(globals_[a], globals_[b]);
    case SymbolKind::kStageVariable:
    case SymbolKind::kVariable:
      return std::tie(left.a, left.b, left.c) <=> std::tie(right.a, right.b, right.c);
    // Functions and locals are not of module scope.
    case SymbolKind::kFunction:
    case SymbolKind::kLocal:
      break;
  }
  KILN_UNREACHABLE();
}

// First the depth, so that operands come before users; then the declaration; then names and
// decorations, by which types with the same operands differ (two structs of one shape, two arrays
// with another stride).
std::strong_ordering CodeObjectStore::CompareShapes(const Global& a, const Global& b) const {
  if (a.depth != b.depth) {
    return a.depth <=> b.depth;
  }
  const CodeObject& left = objects_[a.object.value];
  const CodeObject& right = objects_[b.object.value];
  if (!left.part(Part::kDeclarations).words.empty()) {  // source files declare nothing
    const auto declared =
        CompareOperands(left.part(Part::kDeclarations), right.part(Part::kDeclarations));
    if (std::is_neq(declared)) {
      return declared;
    }
  }
  // Only own ids stand in these parts, no imports (see AddGlobal), so the plain words decide.
  for (const Part part : {Part::kDebug, Part::kAnnotations}) {
    const std::span<const uint32_t> l = WordsOf(left.part(part));
    const std::span<const uint32_t> r = WordsOf(right.part(part));
    const auto words =
        std::lexicographical_compare_three_way(l.begin(), l.end(), r.begin(), r.end());
    if (std::is_neq(words)) {
      return words;
    }
  }
  return std::strong_ordering::equal;
}

// An operand counts by its rank and not by the number of its symbol: symbol ids come from the order
// of lowering, ranks do not.
std::strong_ordering CodeObjectStore::CompareOperands(const Section& a, const Section& b) const {
  const std::span<const uint32_t> left = WordsOf(a);
  const std::span<const uint32_t> right = WordsOf(b);
  // By opcode first, then by length: cheap, and it makes sure that the loop below compares words of
  // the same meaning.
  const auto opcode = (left[0] & 0xffffu) <=> (right[0] & 0xffffu);
  if (std::is_neq(opcode)) {
    return opcode;
  }
  if (left.size() != right.size()) {
    return left.size() <=> right.size();
  }
  // equal opcodes: imports and the result stand at the same places
  const std::span<const SymbolRelocation> left_ids = ImportsOf(a);
  const std::span<const SymbolRelocation> right_ids = ImportsOf(b);
  size_t next = 0;
  for (uint32_t i = 1; i < left.size(); ++i) {
    auto order = left[i] <=> right[i];
    if (next < left_ids.size() && left_ids[next].position == i) {
      order = ranks_[GlobalOf(left_ids[next].symbol).value] <=>
              ranks_[GlobalOf(right_ids[next].symbol).value];
      ++next;
    }
    if (std::is_neq(order)) {
      return order;
    }
  }
  return std::strong_ordering::equal;
}

// Words count twice, for the masks beside them.
size_t CodeObjectStore::bytes_used() const {
  return size_t{word_count_} * 2 * sizeof(uint32_t) + imports_.size() * sizeof(SymbolRelocation) +
         bits_.size() * sizeof(uint64_t) + size_t{objects_.size()} * sizeof(CodeObject) +
         size_t{symbols_.size()} * sizeof(Symbol) +
         size_t{globals_.size()} * (sizeof(Global) + sizeof(OrderedGlobal));
}

}  // namespace kiln::spirv
