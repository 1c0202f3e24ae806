// SPDX-License-Identifier: MIT
// SPIR-V in a form that compresses well (spec/cache 10). Variants of one program have the same
// instructions with other ids. So definitions in front of the functions are replaced by symbols of
// a table that many modules share, and ids within functions by distances. Nothing is lost: a module
// that does not decode to its own bytes is stored as it is.
#include "cache/module_codec.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace kiln::cache {
namespace {

constexpr uint32_t kSpirvMagic = 0x07230203;
constexpr uint32_t kHeaderWords = 5;
constexpr uint32_t kOpFunction = 54;
constexpr uint32_t kSymbol = 0x80000000;
constexpr uint32_t kDistance = 0x40000000;
constexpr uint32_t kOpcodes = 512;

struct Shape {
  uint32_t ids = 0;  // bit i: word i + 1 is an id
  uint32_t result = 0;
};

// Made at compile time from the grammar; the rows are included as a generated file.
constexpr std::array<Shape, kOpcodes> MakeShapes() {
  std::array<Shape, kOpcodes> shapes{};
#define KILN_SHAPE(opcode, ids, result) shapes[opcode] = {ids, result};
#include "cache/spirv_shapes.def"
#undef KILN_SHAPE
  return shapes;
}

constexpr std::array<Shape, kOpcodes> kShapes = MakeShapes();

// The ids of an instruction of so many words.
// A mask of the words that hold ids, for each opcode, made from the grammar of SPIR-V at build
// time. Instructions with a variable number of ids repeat in the upper bits and are cut to the
// words that are there. An opcode that the grammar does not have is copied with its ids as they
// are. That costs room and stays right.
Shape ShapeOf(uint32_t head) {
  const uint32_t opcode = head & 0xFFFF;
  const uint32_t operands = (head >> 16) - 1;
  Shape shape = opcode < kOpcodes ? kShapes[opcode] : Shape{};
  if (operands < 32) {
    shape.ids &= (1U << operands) - 1;
  }
  if (shape.result > operands) {
    shape.result = 0;
  }
  return shape;
}

std::vector<uint32_t> WordsOf(ByteView bytes) {
  std::vector<uint32_t> words(bytes.size() / sizeof(uint32_t));
  if (!words.empty()) {
    std::memcpy(words.data(), bytes.data(), words.size() * sizeof(uint32_t));
  }
  return words;
}

Bytes BytesOf(std::span<const uint32_t> words) {
  const ByteView bytes = std::as_bytes(words);
  return {bytes.begin(), bytes.end()};
}

// The mask has a bit for each word behind the head, and the lowest bit is visited first, which is
// the order of the words.
template <class Do>
void EachId(uint32_t ids, const Do& each) {
  for (; ids != 0; ids &= ids - 1) {
    each(static_cast<uint32_t>(std::countr_zero(ids)) + 1);
  }
}

}  // namespace

// Everything is checked once, so that decoding may copy definitions without looking: lengths fit,
// each has a result, and each names only symbols before it, which rules out circles.
std::optional<SymbolTable> SymbolTable::Read(ByteView bytes) {
  if (bytes.size() < sizeof(uint32_t)) {
    return std::nullopt;
  }
  const uint64_t count = ReadLittle<uint32_t>(bytes);
  if (count > kMaxSymbolBytes / sizeof(uint32_t) || count > bytes.size() / sizeof(uint32_t) - 1) {
    return std::nullopt;
  }
  SymbolTable table;
  table.words_ = WordsOf(bytes.subspan(sizeof(uint32_t), count * sizeof(uint32_t)));
  for (uint32_t at = 0; at < count;) {
    const uint32_t words = table.words_[at] >> 16;
    const uint32_t symbol = table.size();
    if (words == 0 || words > count - at) {
      return std::nullopt;
    }
    const Shape shape = ShapeOf(table.words_[at]);
    bool earlier = shape.result != 0;
    EachId(shape.ids, [&](uint32_t word) { earlier &= table.words_[at + word] < symbol; });
    if (!earlier) {
      return std::nullopt;
    }
    at += words;
    table.begins_.push_back(at);
  }
  return table;
}

// --- Reading -------------------------------------------------------------------------------------

namespace {

// Reads one module. Every length and number is checked before it is used, since the bytes come from
// a file; false means that they are no module, never that memory was read beyond its end.
class ModuleReader {
 public:
  ModuleReader(std::span<const uint32_t> in, const SymbolTable& symbols, std::span<uint32_t> out)
      : in_(in), symbols_(symbols), out_(out), ids_(symbols.size()) {}

  bool Read() {
    if (in_.size() < kHeaderWords + 1 || out_.size() < kHeaderWords) {
      return false;
    }
    std::copy_n(in_.begin(), kHeaderWords, out_.begin());
    to_ = kHeaderWords;
    const uint32_t count = in_[kHeaderWords];
    at_ = kHeaderWords + 1;
    if (count > in_.size() - at_ || count > out_.size()) {
      return false;
    }
    definitions_ = in_.subspan(at_, count);
    uint32_t symbol = 0xFFFFFFFF;
    for (uint32_t i = 0; i < count; ++i) {
      // Symbols ascend and are stored as distances, so equal modules have equal small numbers here.
      // A distance that wraps leads below and is found out of range or decodes to other bytes,
      // which the blob's digest tells.
      symbol += definitions_[i] + 1;
      if (symbol >= ids_.size()) {
        return false;
      }
      ids_[symbol] = i + 1;
    }
    at_ += count;
    last_ = count;
    // A zero word cannot begin an instruction, whose length is in its upper half: it stands for
    // "the next definition".
    while (at_ < in_.size()) {
      if (!(in_[at_] == 0 ? Define() : Copy())) {
        return false;
      }
    }
    return to_ == out_.size();
  }

 private:
  // The invariant: before this the symbols up to next_ are defined, and their ids are 1 to next_.
  bool Define() {
    if (next_ == definitions_.size()) {
      return false;
    }
    symbol_ += definitions_[next_] + 1;  // Read has checked it
    const std::span<const uint32_t> definition = symbols_.Definition(symbol_);
    if (definition.size() > out_.size() - to_) {
      return false;
    }
    uint32_t* const to = &out_[to_];
    std::copy(definition.begin(), definition.end(), to);
    const Shape shape = ShapeOf(definition[0]);
    // The definition names symbols; this module's ids take their place. A symbol that it does not
    // have becomes id 0, and the digest of the result will differ.
    EachId(shape.ids, [&](uint32_t word) { to[word] = ids_[definition[word]]; });
    to[shape.result] = ++next_;
    to_ += definition.size();
    ++at_;
    return true;
  }

  // Instructions within functions have their ids as distances to the last result, which are the
  // same in every variant wherever the function's ids begin.
  bool Copy() {
    const uint32_t* const from = &in_[at_];
    const uint32_t words = from[0] >> 16;
    if (words == 0 || words > in_.size() - at_ || words > out_.size() - to_) {
      return false;
    }
    uint32_t* const to = &out_[to_];
    for (uint32_t i = 0; i < words; ++i) {  // a few: quicker than a call
      to[i] = from[i];
    }
    // In front of the functions, in names and decorations, a distance counts from the last id that
    // was named; from here on from the last result.
    if (!in_functions_ && (from[0] & 0xFFFF) == kOpFunction) {
      in_functions_ = true;
      last_ = static_cast<uint32_t>(definitions_.size());
    }
    const Shape shape = ShapeOf(from[0]);
    for (uint32_t ids = shape.ids; ids != 0; ids &= ids - 1) {
      const uint32_t word = static_cast<uint32_t>(std::countr_zero(ids)) + 1;
      const uint32_t value = from[word];
      if (value >= kSymbol) {
        if (value - kSymbol >= ids_.size()) {
          return false;
        }
        to[word] = ids_[value - kSymbol];
      } else {
        to[word] = last_ - (value - kDistance);
        last_ = in_functions_ ? last_ : to[word];
      }
    }
    if (shape.result != 0 && in_functions_) {
      to[shape.result] = from[shape.result] + last_ + 1;
      last_ = to[shape.result];
    }
    at_ += words;
    to_ += words;
    return true;
  }

  std::span<const uint32_t> in_;
  const SymbolTable& symbols_;
  std::span<uint32_t> out_;
  std::vector<uint32_t> ids_;  // by symbol
  std::span<const uint32_t> definitions_;
  uint32_t next_ = 0;             // of the definitions
  uint32_t symbol_ = 0xFFFFFFFF;  // of the one before
  uint32_t last_ = 0;
  bool in_functions_ = false;
  size_t at_ = 0;
  size_t to_ = 0;
};

}  // namespace

// The output must be aligned for words, which every buffer of the reader is. The input may lie
// anywhere and is copied if it must be.
bool DecodeModule(ByteView encoded, const SymbolTable& symbols, std::span<std::byte> module) {
  if (encoded.size() % sizeof(uint32_t) != 0 || module.size() % sizeof(uint32_t) != 0) {
    return false;
  }
  // Words where they lie, unless something of an odd size lies in front of them.
  std::vector<uint32_t> copy;
  if (reinterpret_cast<uintptr_t>(encoded.data()) % alignof(uint32_t) != 0) {
    copy = WordsOf(encoded);
    encoded = std::as_bytes(std::span(copy));
  }
  if (reinterpret_cast<uintptr_t>(module.data()) % alignof(uint32_t) != 0) {
    return false;
  }
  const std::span<const uint32_t> in(reinterpret_cast<const uint32_t*>(encoded.data()),
                                     encoded.size() / sizeof(uint32_t));
  const std::span<uint32_t> out(reinterpret_cast<uint32_t*>(module.data()),
                                module.size() / sizeof(uint32_t));
  return ModuleReader(in, symbols, out).Read();
}

// --- Writing -------------------------------------------------------------------------------------

namespace {

// Equal definitions of one module, such as structs with the same members, differ in `ordinal`.
void SetDefinitionKey(std::span<const uint32_t> definition, uint32_t ordinal, std::string& key) {
  key.assign(AsText(std::as_bytes(definition)));
  key.append(reinterpret_cast<const char*>(&ordinal), sizeof(ordinal));
}

std::string DefinitionKey(std::span<const uint32_t> definition, uint32_t ordinal) {
  std::string key;
  SetDefinitionKey(definition, ordinal, key);
  return key;
}

}  // namespace

// The numbers of `start` stay as they are, so modules that were encoded with it still decode with
// the table that this writer returns.
SymbolWriter::SymbolWriter(const SymbolTable& start) : table_(start) {
  for (uint32_t symbol = 0; symbol < table_.size(); ++symbol) {
    const std::span<const uint32_t> definition = table_.Definition(symbol);
    uint32_t ordinal = 0;
    // A table of another pack may have equal definitions several times; the ordinal tells them
    // apart.
    while (!by_definition_.emplace(DefinitionKey(definition, ordinal), symbol).second) {
      ++ordinal;
    }
  }
}

// The symbols of what a module defines in front of its functions. Nothing if its ids are not 1, 2,
// … in that order, something is used before it is defined, or the table is full. `missing` tells
// what to do about a definition that the table lacks: adding it is for the pass that gathers,
// giving up for the pass that writes.
std::optional<SymbolWriter::Globals> SymbolWriter::GlobalsOf(std::span<const uint32_t> words,
                                                             Missing missing) {
  if (words.size() < kHeaderWords || words[0] != kSpirvMagic) {
    return std::nullopt;
  }
  Globals globals;
  std::vector<bool> used(table_.size());
  std::vector<uint32_t> definition;  // memory is used again
  std::string key;
  size_t at = kHeaderWords;
  while (at < words.size() && (words[at] & 0xFFFF) != kOpFunction) {
    const uint32_t count = words[at] >> 16;
    if (count == 0 || count > words.size() - at) {
      return std::nullopt;
    }
    const Shape shape = ShapeOf(words[at]);
    if (shape.result == 0) {
      at += count;
      continue;
    }
    definition.assign(words.begin() + static_cast<ptrdiff_t>(at),
                      words.begin() + static_cast<ptrdiff_t>(at + count));
    // kiln's emitter numbers ids in the order of definition. Any other module cannot be said in
    // this form and is stored as it is.
    bool defined = definition[shape.result] == globals.symbols.size();
    definition[shape.result] = 0;
    EachId(shape.ids, [&](uint32_t word) {
      const uint32_t id = definition[word];
      defined &= id != 0 && id < globals.symbols.size();
      definition[word] = defined ? globals.symbols[id] : 0;
    });
    if (!defined) {
      return std::nullopt;
    }
    uint32_t ordinal = 0;
    SetDefinitionKey(definition, ordinal, key);
    auto found = by_definition_.find(key);
    // The second equal definition of one module is the second one of the table.
    while (found != by_definition_.end() && used[found->second]) {
      SetDefinitionKey(definition, ++ordinal, key);
      found = by_definition_.find(key);
    }
    if (found == by_definition_.end()) {
      // The table stands in front of every family and is read whole, so its size is bounded.
      const bool full =
          (table_.words_.size() + definition.size() + 1) * sizeof(uint32_t) > kMaxSymbolBytes;
      if (missing == Missing::kGiveUp || full) {
        return std::nullopt;
      }
      found = by_definition_.emplace(key, table_.size()).first;
      table_.words_.insert(table_.words_.end(), definition.begin(), definition.end());
      table_.begins_.push_back(static_cast<uint32_t>(table_.words_.size()));
      used.push_back(false);
    }
    used[found->second] = true;
    globals.symbols.push_back(found->second);
    at += count;
  }
  globals.end = at;
  return globals;
}

// A module that cannot be said in this form adds what it defines up to there; that costs room and
// harms nothing.
// A symbol keeps its number, so what is found now is what Encode would find when the table is
// whole.
size_t SymbolWriter::Add(ByteView module) {
  added_.push_back(module.size() % sizeof(uint32_t) == 0 ? GlobalsOf(WordsOf(module), Missing::kAdd)
                                                         : std::nullopt);
  return added_.size() - 1;
}

Bytes SymbolWriter::Table() const {
  Bytes bytes;
  if (table_.size() != 0) {
    AppendLittle(bytes, static_cast<uint32_t>(table_.words_.size()));
    Append(bytes, BytesOf(table_.words_));
  }
  return bytes;
}

// Must be called after all Add calls: the table that the encoding names does not change afterwards.
std::optional<Bytes> SymbolWriter::Encode(ByteView module, std::optional<size_t> added) {
  if (module.size() % sizeof(uint32_t) != 0) {
    return std::nullopt;
  }
  const std::vector<uint32_t> words = WordsOf(module);
  std::optional<Globals> globals =
      added.has_value() ? std::exchange(added_[*added], std::nullopt) : std::nullopt;
  if (!globals.has_value()) {
    globals = GlobalsOf(words, Missing::kGiveUp);
  }
  if (!globals.has_value()) {
    return std::nullopt;
  }
  const auto defined = static_cast<uint32_t>(globals->symbols.size()) - 1;
  std::vector<uint32_t> out(words.begin(), words.begin() + kHeaderWords);
  out.push_back(defined);
  uint32_t symbol = 0xFFFFFFFF;
  for (uint32_t id = 1; id <= defined; ++id) {
    // As steps from the symbol before: ids mostly have symbols in the order of the table, so most
    // steps are 0.
    out.push_back(globals->symbols[id] - symbol - 1);
    symbol = globals->symbols[id];
  }
  // Mirrors the reader step by step; whatever the two do not agree on is caught at the end.
  uint32_t last = defined;
  for (size_t at = kHeaderWords; at < words.size();) {
    const uint32_t count = words[at] >> 16;
    if (count == 0 || count > words.size() - at) {
      return std::nullopt;
    }
    const Shape shape = ShapeOf(words[at]);
    const bool in_functions = at >= globals->end;
    if (at == globals->end) {
      last = defined;
    }
    if (!in_functions && shape.result != 0) {
      out.push_back(0);
      at += count;
      continue;
    }
    const size_t to = out.size();
    out.insert(out.end(), words.begin() + static_cast<ptrdiff_t>(at),
               words.begin() + static_cast<ptrdiff_t>(at + count));
    EachId(shape.ids, [&](uint32_t word) {
      const uint32_t id = words[at + word];
      if (id != 0 && id <= defined) {
        out[to + word] = kSymbol + globals->symbols[id];
      } else {
        out[to + word] = kDistance + last - id;  // one that is too far is found below
        last = in_functions ? last : id;
      }
    });
    if (shape.result != 0) {
      out[to + shape.result] = words[at + shape.result] - last - 1;
      last = words[at + shape.result];
    }
    at += count;
  }
  Bytes encoded = BytesOf(out);
  Bytes again(module.size());
  // Decoded again before it is believed. It costs a fraction of compressing and makes a wrong byte
  // impossible, whatever the module was.
  const bool same = DecodeModule(encoded, table_, again) &&
                    std::equal(again.begin(), again.end(), module.begin());
  return same ? std::optional(std::move(encoded)) : std::nullopt;
}

}  // namespace kiln::cache
