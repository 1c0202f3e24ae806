// SPDX-License-Identifier: MIT
#include "runtime/pipeline/create/spirv_interface.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

namespace kiln::runtime {
namespace {

constexpr uint32_t kMagic = 0x07230203;
constexpr size_t kHeaderWords = 5;
// No device has more locations than some dozens; the limit keeps a hostile array length from taking
// time and memory.
constexpr uint32_t kMaxLocations = 1024;
constexpr int kMaxDepth = 8;  // of types in types

// Of the SPIR-V specification.
enum Op : uint16_t {
  kEntryPoint = 15,
  kTypeInt = 21,
  kTypeFloat = 22,
  kTypeVector = 23,
  kTypeMatrix = 24,
  kTypeArray = 28,
  kTypeStruct = 30,
  kTypePointer = 32,
  kConstant = 43,
  kFunction = 54,
  kVariable = 59,
  kDecorate = 71,
  kMemberDecorate = 72,
};
constexpr uint32_t kDecorationLocation = 30;
constexpr uint32_t kStorageInput = 1;
constexpr uint32_t kStorageOutput = 3;

uint32_t ExecutionModel(VkShaderStageFlagBits stage) {
  // The numbers of the execution models: vertex is zero.
  return stage == VK_SHADER_STAGE_COMPUTE_BIT ? 5 : stage == VK_SHADER_STAGE_FRAGMENT_BIT ? 4 : 0;
}

Error Invalid(std::string_view entry, std::string_view what) {
  return {ErrorCode::kInvalidArgument, fmt::format("entry point '{}': {}", entry, what),
          "METADATA_INVALID"};
}

using Operands = std::span<const uint32_t>;

// Text of words, without its end; nullopt if it has none. `used`: words that it takes.
// SPIR-V packs text four bytes to a word, the lowest byte first, and ends it with a zero.
std::optional<std::string> TextOf(Operands words, size_t& used) {
  std::string text;
  for (used = 0; used < words.size(); ++used) {
    for (int shift = 0; shift < 32; shift += 8) {
      const auto c = static_cast<char>(words[used] >> shift & 0xFF);
      if (c == '\0') {
        ++used;
        return text;
      }
      text += c;
    }
  }
  return std::nullopt;
}

class Reader {
 public:
  Reader(VkShaderStageFlagBits stage, std::string_view entry)
      : model_(ExecutionModel(stage)), entry_(entry) {}

  Result<SpirvInterface> Read(Operands words);

 private:
  struct Type {
    uint16_t op = 0;
    std::vector<uint32_t> operands;  // behind the result
  };
  struct Variable {
    uint32_t pointer = 0;
    uint32_t storage = 0;
  };

  // False: an instruction is too short for what it is.
  bool Take(uint16_t op, Operands operands);
  void TakeEntryPoint(Operands operands);
  Result<void> Expand(uint32_t type, uint32_t& location, std::vector<InterfaceLocation>& out,
                      int depth) const;
  Result<void> ExpandVariable(uint32_t id, const Variable& variable, SpirvInterface& out) const;
  Result<void> Scalar(const Type& type, uint32_t components, uint32_t& location,
                      std::vector<InterfaceLocation>& out) const;

  uint32_t model_;
  std::string_view entry_;
  std::optional<std::vector<uint32_t>> interface_;  // of the entry point
  std::unordered_map<uint32_t, Type> types_;        // looked up only
  std::unordered_map<uint32_t, Variable> variables_;
  std::unordered_map<uint32_t, uint32_t> constants_;
  std::unordered_map<uint32_t, uint32_t> locations_;
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> member_locations_;
};

// A module may have several entry points, even of one name in different stages, so the stage has to
// agree as well.
void Reader::TakeEntryPoint(Operands operands) {
  size_t used = 0;
  const std::optional<std::string> name = TextOf(operands.subspan(2), used);
  if (operands[0] == model_ && name == entry_) {
    const Operands ids = operands.subspan(2 + used);
    interface_.emplace(ids.begin(), ids.end());
  }
}

// Only lengths are checked here. What the ids refer to is looked up when it is needed, with a check
// at each step, because the words may say anything.
bool Reader::Take(uint16_t op, Operands operands) {
  switch (op) {
    case kEntryPoint:
      if (operands.size() < 3) {
        return false;
      }
      TakeEntryPoint(operands);
      return true;
    case kTypeInt:
    case kTypeFloat:
    case kTypeVector:
    case kTypeMatrix:
    case kTypeArray:
    case kTypeStruct:
    case kTypePointer: {
      // The result and what Expand reads of it: width and sign of an integer, component and count
      // of a vector, and so on.
      const size_t needed = op == kTypeStruct ? 1 : op == kTypeFloat ? 2 : 3;
      if (operands.size() < needed) {
        return false;
      }
      types_[operands[0]] = {op, {operands.begin() + 1, operands.end()}};
      return true;
    }
    case kConstant:
      if (operands.size() < 3) {
        return false;
      }
      // The low word is enough: a length beyond it is refused by the limit.
      constants_[operands[1]] = operands[2];
      return true;
    case kVariable:
      if (operands.size() < 3) {
        return false;
      }
      variables_[operands[1]] = {operands[0], operands[2]};
      return true;
    case kDecorate:
      if (operands.size() >= 3 && operands[1] == kDecorationLocation) {
        locations_[operands[0]] = operands[2];
      }
      return true;
    case kMemberDecorate:
      if (operands.size() >= 4 && operands[2] == kDecorationLocation) {
        member_locations_[{operands[0], operands[1]}] = operands[3];
      }
      return true;
    default:  // of the rest nothing is asked
      return true;
  }
}

Result<void> Reader::Scalar(const Type& type, uint32_t components, uint32_t& location,
                            std::vector<InterfaceLocation>& out) const {
  if (type.op != kTypeInt && type.op != kTypeFloat) {
    return Invalid(entry_, fmt::format("location {} holds no number", location));
  }
  out.push_back({.location = location++,
                 .item = type.op == kTypeFloat   ? artifact::OutputItem::kFloat
                         : type.operands[1] != 0 ? artifact::OutputItem::kSint
                                                 : artifact::OutputItem::kUint,
                 .components = components});
  return {};
}

// The locations from `location` on that a value of the type takes.
// Arrays and matrices take one location for each item or column, and scalars and vectors take one.
Result<void> Reader::Expand(uint32_t type, uint32_t& location, std::vector<InterfaceLocation>& out,
                            int depth) const {
  const auto found = types_.find(type);
  if (found == types_.end() || depth > kMaxDepth || location >= kMaxLocations) {
    return Invalid(entry_, fmt::format("location {} has no type that a stage exchanges", location));
  }
  const Type& row = found->second;
  if (row.op == kTypeInt || row.op == kTypeFloat) {
    return Scalar(row, 1, location, out);
  }
  if (row.op == kTypeVector) {
    const auto item = types_.find(row.operands[0]);
    return item == types_.end() ? Invalid(entry_, "a vector of nothing")
                                : Scalar(item->second, row.operands[1], location, out);
  }
  uint32_t count = row.operands.size() == 2 ? row.operands[1] : 0;  // columns of a matrix
  if (row.op == kTypeArray) {
    // A length that is a specialization constant is not known here, and counts as none.
    const auto length = constants_.find(row.operands[1]);
    count = length == constants_.end() ? 0 : length->second;
  }
  if ((row.op != kTypeArray && row.op != kTypeMatrix) || count == 0 || count > kMaxLocations) {
    return Invalid(entry_, fmt::format("location {} has no type that a stage exchanges", location));
  }
  // The depth is limited above, and the location counts up to its limit; so the recursion ends for
  // any input.
  for (uint32_t i = 0; i < count; ++i) {
    KILN_TRY_VOID(Expand(row.operands[0], location, out, depth + 1));
  }
  return {};
}

// What has no location is a built-in variable.
Result<void> Reader::ExpandVariable(uint32_t id, const Variable& variable,
                                    SpirvInterface& out) const {
  const auto pointer = types_.find(variable.pointer);
  if (pointer == types_.end() || pointer->second.op != kTypePointer) {
    return Invalid(entry_, fmt::format("variable {} has no pointer for a type", id));
  }
  const uint32_t type = pointer->second.operands[1];
  // A variable of the interface is one or the other, as the caller has made sure.
  std::vector<InterfaceLocation>& side =
      variable.storage == kStorageInput ? out.inputs : out.outputs;
  if (const auto own = locations_.find(id); own != locations_.end()) {
    uint32_t location = own->second;
    return Expand(type, location, side, 0);
  }
  // Without a location of its own, the variable is a built-in one or a block whose members may have
  // locations.
  const auto block = types_.find(type);
  if (block == types_.end() || block->second.op != kTypeStruct) {
    return {};
  }
  for (uint32_t member = 0; member < block->second.operands.size(); ++member) {
    const auto own = member_locations_.find({type, member});
    if (own != member_locations_.end()) {
      uint32_t location = own->second;
      KILN_TRY_VOID(Expand(block->second.operands[member], location, side, 0));
    }
  }
  return {};
}

// One pass over the declarations. The bodies of functions say nothing about the interface, and they
// are most of the module.
Result<SpirvInterface> Reader::Read(Operands words) {
  if (words.size() < kHeaderWords || words[0] != kMagic) {
    return Invalid(entry_, "the words are not SPIR-V");
  }
  for (size_t at = kHeaderWords; at < words.size();) {
    const uint32_t length = words[at] >> 16;
    const auto op = static_cast<uint16_t>(words[at] & 0xFFFF);
    // A length of zero would never advance, and a length beyond the end would read what is not
    // there.
    if (length == 0 || length > words.size() - at || !Take(op, words.subspan(at + 1, length - 1))) {
      return Invalid(entry_, fmt::format("word {} begins no instruction", at));
    }
    if (op == kFunction) {  // all declarations come before
      break;
    }
    at += length;
  }
  if (!interface_) {
    return Invalid(entry_, "the words have no such entry point");
  }
  // An id that is listed twice must not take its locations twice.
  std::ranges::sort(*interface_);
  interface_->erase(std::ranges::unique(*interface_).begin(), interface_->end());
  SpirvInterface out;
  // Since SPIR-V 1.4 the interface lists variables of all storage classes; inputs and outputs are
  // picked out here.
  for (const uint32_t id : *interface_) {
    const auto variable = variables_.find(id);
    if (variable != variables_.end() &&
        (variable->second.storage == kStorageInput || variable->second.storage == kStorageOutput)) {
      KILN_TRY_VOID(ExpandVariable(id, variable->second, out));
    }
  }
  std::ranges::sort(out.inputs, {}, &InterfaceLocation::location);
  std::ranges::sort(out.outputs, {}, &InterfaceLocation::location);
  return out;
}

}  // namespace

Result<SpirvInterface> ReadInterface(std::span<const uint32_t> words, VkShaderStageFlagBits stage,
                                     std::string_view entry) {
  return Reader(stage, entry).Read(words);
}

}  // namespace kiln::runtime
