// SPDX-License-Identifier: MIT
#include "compiler/layout/engine/written.h"

#include <charconv>
#include <string>

namespace kiln::layout {
namespace {

// A register of constants is four floats.
constexpr uint64_t kRegisterBytes = 16;
constexpr uint64_t kMaxIndex = 0xffffffffu;

// Letters in either case.
// spec/layout 7.5: b, t, u, s; and c, which counts constants.
std::optional<Kind> ClassOf(char letter) {
  switch (letter | 0x20) {
    case 'b':
      return Kind::kB;
    case 't':
      return Kind::kT;
    case 'u':
      return Kind::kU;
    case 's':
      return Kind::kS;
    case 'c':
      return Kind::kPush;
    default:
      return std::nullopt;
  }
}

// What `classes` adds to the number of a register.
uint64_t ClassBase(Kind register_class) {
  // Each class gets 128 slots (spec/layout 7.5).
  constexpr uint64_t kStep = 128;
  switch (register_class) {
    case Kind::kT:
      return kStep;
    case Kind::kS:
      return 2 * kStep;
    case Kind::kU:
      return 3 * kStep;
    case Kind::kB:
    case Kind::kSlot:
    case Kind::kSpace:
    case Kind::kPush:
    case Kind::kSpec:
    case Kind::kAttachment:
      return 0;
  }
  return 0;
}

// Reads the bindings that apply to this target and passes over the others: a source may carry those
// of several targets.
// `Run` writes what was found into the item; what is malformed becomes a finding and is left
// out.
class Reader {
 public:
  Reader(const Program& program, const Types& types, uint32_t order, Item& item, Findings& findings)
      : program_(program),
        settings_(program.settings),
        types_(types),
        order_(order),
        item_(item),
        parameter_(*item.parameter),
        findings_(findings) {}

  void Run() {
    if (IsD3d(program_.platform)) {
      for (const RegisterBinding& binding : parameter_.registers) {
        D3d(binding);
      }
      return;
    }
    // A written slot goes before registers.
    if (parameter_.slot) {
      Slot(*parameter_.slot);
    } else if (settings_.vulkan_registers != VulkanRegisters::kIgnore) {
      for (const RegisterBinding& binding : parameter_.registers) {
        RegisterAsSlot(binding);
      }
    }
  }

 private:
  // Direct3D takes registers as they are written; spec/layout 7.3.2.
  void D3d(const RegisterBinding& binding) {
    const uint32_t space = binding.space.value_or(0);
    if (space != 0 && program_.platform == Platform::kD3d11) {
      Report(Code::kLay3003, {{"what", "register spaces"}, {"target", "d3d11"}});
      return;
    }
    // A space without a register: only the space is written.
    if (binding.text.empty()) {
      item_.written.push_back({.kind = Kind::kSpace, .space = space});
      return;
    }
    const std::optional<Register> read = ParseRegister(binding.text);
    if (!read) {
      Report(Code::kLay2006, {{"text", binding.text}});
    } else if (read->register_class != Kind::kPush) {
      item_.written.push_back(
          {.kind = read->register_class, .index = read->number, .space = space});
    } else if (types_[parameter_.type].has_bytes && parameter_.role == Role::kResource) {
      // `register(cN)` on loose bytes is an offset in the buffer of globals.
      item_.member_offset = read->number * kRegisterBytes;
    } else {
      Report(Code::kLay2004, {{"class", "c"}});
    }
  }

  // A slot that Vulkan or WebGPU has: number and space, or the space alone.
  void Slot(const SlotBinding& binding) {
    const uint32_t space = binding.space.value_or(0);
    if (!binding.index) {
      item_.written.push_back({.kind = Kind::kSpace, .space = space});
      return;
    }
    // Numbers are kept in 64 bits, so a hostile one is refused and not cut.
    if (*binding.index > kMaxIndex) {
      Report(Code::kLay2006, {{"text", std::to_string(*binding.index)}});
      return;
    }
    item_.written.push_back({.kind = Kind::kSlot, .index = *binding.index, .space = space});
    item_.counter = binding.counter;
  }

  // spec/layout 7.5: what a register means on Vulkan, by the setting.
  void RegisterAsSlot(const RegisterBinding& binding) {
    const uint32_t space = binding.space.value_or(0);
    if (binding.text.empty()) {
      item_.written.push_back({.kind = Kind::kSpace, .space = space});
      return;
    }
    const std::optional<Register> read = ParseRegister(binding.text);
    if (!read) {
      Report(Code::kLay2006, {{"text", binding.text}});
      return;
    }
    if (read->register_class == Kind::kPush) {
      return;  // offsets in the implicit buffer belong to D3D
    }
    if (settings_.vulkan_registers == VulkanRegisters::kShift) {
      // Without a shift the class is a plain slot, and its register says nothing but the space.
      if (ShiftOf(settings_, read->register_class, space)) {
        item_.written.push_back(
            {.kind = read->register_class, .index = read->number, .space = space});
      } else if (binding.space) {
        item_.written.push_back({.kind = Kind::kSpace, .space = space});
      }
      return;
    }
    // With `direct` the number is the slot.
    const uint64_t base = settings_.vulkan_registers == VulkanRegisters::kClasses
                              ? ClassBase(read->register_class)
                              : 0;
    item_.written.push_back({.kind = Kind::kSlot, .index = read->number + base, .space = space});
  }

  // All messages name the parameter.
  void Report(Code code, std::initializer_list<Argument> arguments) {
    Diagnostic diagnostic = Make(code, parameter_.where).With("name", parameter_.name);
    diagnostic.arguments.insert(diagnostic.arguments.end(), arguments);
    findings_.Add(std::move(diagnostic), order_, &item_);
  }

  const Program& program_;
  const Settings& settings_;
  const Types& types_;
  uint32_t order_;
  Item& item_;
  const Parameter& parameter_;
  Findings& findings_;
};

}  // namespace

// A letter and a number in 32 bits.
std::optional<Register> ParseRegister(std::string_view text) {
  if (text.size() < 2) {
    return std::nullopt;
  }
  const std::optional<Kind> register_class = ClassOf(text[0]);
  uint64_t number = 0;
  const char* end = text.data() + text.size();
  // Nothing may follow the number.
  const auto [rest, error] = std::from_chars(text.data() + 1, end, number);
  if (!register_class || error != std::errc{} || rest != end || number > kMaxIndex) {
    return std::nullopt;
  }
  return Register{.register_class = *register_class, .number = number};
}

// A shift of this space goes before one of all spaces, of which the last counts.
// Nothing if no shift is about this class.
std::optional<int64_t> ShiftOf(const Settings& settings, Kind register_class, uint32_t space) {
  std::optional<int64_t> found;
  for (const Shift& shift : settings.shifts) {
    if (shift.register_class == register_class && (!shift.space || *shift.space == space)) {
      found = shift.shift;
      if (shift.space) {
        return found;
      }
    }
  }
  return found;
}

void ReadWritten(const Program& program, const Types& types, uint32_t order, Item& item,
                 Findings& findings) {
  Reader(program, types, order, item, findings).Run();
}

}  // namespace kiln::layout
