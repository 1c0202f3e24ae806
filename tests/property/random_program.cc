// SPDX-License-Identifier: MIT
#include "tests/property/random_program.h"

#include <vector>

#include <fmt/format.h>

namespace kiln::property {
namespace {

constexpr uint32_t kWideOptions = 260;

// Writes one program. Names are numbered by kind: flags g0 (global) and i0 (instance), numbers n0,
// enums e0, constants c0, structs s0_t, buffers b0, images m0, functions fn0.
class Writer {
 public:
  Writer(uint64_t seed, bool wide) : random_(seed), wide_(wide) {}

  std::string Run() {
    Options();
    Constants();
    Structs();
    Interface();
    const uint32_t functions = 2 + Pick(5);
    for (uint32_t i = 0; i < functions; ++i) {
      Function();
    }
    Entries();
    return std::move(out_);
  }

 private:
  uint32_t Pick(uint32_t limit) { return Below(random_, limit); }
  bool Chance(uint32_t percent) { return Pick(100) < percent; }
  template <class... Args>
  void Add(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
  }

  void Options() {
    global_flags_ = wide_ ? kWideOptions : 2 + Pick(5);
    instance_flags_ = 1 + Pick(4);
    numbers_ = 1 + Pick(3);
    for (uint32_t i = 0; i < global_flags_; ++i) {
      Add("global g{}: flag {};\n", i, Chance(50));
    }
    for (uint32_t i = 0; i < instance_flags_; ++i) {
      Add("instance i{}: flag {};\n", i, Chance(50));
    }
    for (uint32_t i = 0; i < numbers_; ++i) {
      Add("global n{}: uint {};\n", i, 1 + Pick(6));
    }
    Add("global e0: enum \"x\" \"y\" \"z\";\ninstance e1: enum \"x\" \"y\";\n");
    Add("instance gain: float 1.5;\nglobal bias: sint -2;\n");
  }

  std::string GlobalTerm() {
    switch (Pick(6)) {
      case 0:
        return fmt::format("n{} > {}u", Pick(numbers_), Pick(5));
      case 1:
        return fmt::format("e0 == \"{}\"", "xyz"[Pick(3)]);
      case 2:
        return fmt::format("!g{}", Pick(global_flags_));
      case 3:
        return "bias < 0s";
      default:
        return fmt::format("g{}", Pick(global_flags_));
    }
  }
  std::string Term() {
    switch (Pick(4)) {
      case 0:
        return fmt::format("i{}", Pick(instance_flags_));
      case 1:
        return fmt::format("e1 == \"{}\"", "xy"[Pick(2)]);
      default:
        return GlobalTerm();
    }
  }
  std::string GlobalCondition() {
    const std::string first = GlobalTerm();
    return Chance(30) ? fmt::format("{} {} {}", first, Chance(50) ? "&&" : "||", GlobalTerm())
                      : first;
  }
  std::string Condition() {
    const std::string first = Term();
    return Chance(30) ? fmt::format("{} {} {}", first, Chance(50) ? "&&" : "||", Term()) : first;
  }
  std::string MaybeConditional(uint32_t percent) {
    return Chance(percent) ? fmt::format("conditional ({}) ", GlobalCondition()) : "";
  }

  void Constants() {
    Add("constant c0 = n0 + 1u;\nconstant c1 = gain * 2.0;\n");
    const std::string condition = GlobalCondition();
    Add("conditional ({}) constant c2 = c0 * 2u;\n", condition);
    Add("conditional (!({})) constant c2 = 3u;\n", condition);
    if (Chance(20)) {
      Add("constant c3 = 12u / (n0 - {}u);\n", Pick(4));  // may divide by zero
    } else {
      Add("constant c3 = 4u;\n");
    }
  }

  void Structs() {
    structs_ = 1 + Pick(3);
    for (uint32_t i = 0; i < structs_; ++i) {
      Add("struct s{}_t\n{{\n  f4 a;\n  {}f4 b;\n", i, MaybeConditional(60));
      if (i > 0 && Chance(50)) {
        Add("  s{}_t inner;\n", Pick(i));
      }
      if (Chance(50)) {
        Add("  f4[{}] items;\n", Chance(50) ? "c2" : "n0");
      }
      Add("  f4 z;\n}};\n");
    }
  }

  void Interface() {
    Add("vertex_attribute_container vertex\n{{\n  f3 position;\n  {}f4 tint;\n  f2 uv;\n}};\n",
        MaybeConditional(60));
    Add("state_container state\n{{\n  f2 uv;\n");
    if (Chance(50)) {
      Add("  conditional ({}) f4 extra;\n", Condition());
    }
    Add("  f4 shade;\n}};\ncolor_output_container target {{ f4 color; }};\n");
    buffers_ = 1 + Pick(3);
    for (uint32_t i = 0; i < buffers_; ++i) {
      Add("{}set_{} uniform_buffer b{}\n{{\n  f4 a;\n  {}f4 b;\n  s{}_t part;\n  f4[{}] "
          "items;\n}};\n",
          MaybeConditional(i == 0 ? 0 : 40), Chance(50) ? "pass" : "material", i,
          MaybeConditional(50), Pick(structs_), Chance(50) ? "n0" : "c0");
    }
    images_ = 1 + Pick(4);
    Add("set_material sampler linear;\n");
    for (uint32_t i = 0; i < images_; ++i) {
      Add("{}set_material image_color_2d m{};\n", MaybeConditional(i == 0 ? 0 : 60), i);
    }
    Add("conditional ({}) setting cull_mode = \"back\";\nsetting depth_test = {};\n", Condition(),
        Chance(50) ? "i0" : "true");
  }

  // A value of type f4 that is there in most variants.
  std::string Value(uint32_t depth) {
    switch (Pick(depth > 2 ? 8 : 12)) {
      case 0:
        return fmt::format("b{}.a", Pick(buffers_));
      case 1:
        return fmt::format("b{}.part.z", Pick(buffers_));
      case 2:
        return fmt::format("b0.items[{}]", Pick(2));
      case 3:
        return fmt::format("f4 {{gain, 0.0, f1 {{{}}}, c1}}", Chance(50) ? "c0" : "c2");
      case 4:
        return Chance(8) ? fmt::format("b{}.b", Pick(buffers_)) : "b0.a";
      case 5:
        return "local";
      case 6:
        return Chance(10) ? "f4 {f1 {c3}}" : "f4 {0.5}";
      case 7:
        return Chance(4) ? "no_such_name" : "local";
      case 8:
        return fmt::format("({} + {})", Value(depth + 1), Value(depth + 1));
      case 9:
        return fmt::format("({} * {})", Value(depth + 1), Value(depth + 1));
      default:
        if (functions_ == 0) {
          return "local";
        }
        return fmt::format("fn{} ({})", Pick(functions_), Value(depth + 1));
    }
  }

  void Statement(uint32_t depth) {
    const std::string indent(size_t{2} * depth, ' ');
    switch (Pick(depth > 4 ? 3 : 8)) {
      case 0:
      case 1:
        Add("{}local = {};\n", indent, Value(0));
        return;
      case 2:
        Add("{}local.x = local.y * {};\n", indent, Chance(50) ? "gain" : "f1 {n0}");
        return;
      case 3:
        Add("{}if (local.x < {}.0)\n{}{{\n", indent, Pick(5), indent);
        Statement(depth + 1);
        Add("{}}}\n", indent);
        return;
      case 4:
        Add("{}for (u1 k{} = 0u; k{} < {}; k{} = k{} + 1u)\n{}{{\n", indent, depth, depth,
            Chance(50) ? "c2" : "n0", depth, depth, indent);
        Statement(depth + 1);
        Add("{}}}\n", indent);
        return;
      case 5:
        Add("{}conditional ({})\n{}{{\n", indent, Condition(), indent);
        Statement(depth + 1);
        if (Chance(12)) {
          Add("{}  {}\n", indent, ending_);
        }
        Add("{}}}\n", indent);
        return;
      default:
        Add("{}conditional ({})\n{}{{\n", indent, Condition(), indent);
        Add("{}  f4 v{} = {};\n", indent, depth, Value(0));
        Statement(depth + 1);
        Statement(depth + 1);
        Add("{}  local = local + v{};\n{}}}\n", indent, depth, indent);
    }
  }

  void Body(uint32_t statements) {
    for (uint32_t i = 0; i < statements; ++i) {
      Statement(1);
    }
  }

  void Function() {
    ending_ = "return local;";
    const bool pair = Chance(30);
    const std::string condition = Condition();
    for (uint32_t i = 0; i < (pair ? 2u : 1u); ++i) {
      if (pair) {
        Add("conditional ({}({})) ", i == 0 ? "" : "!", condition);
      }
      Add("f4 fn{} (in f4 given)\n{{\n  f4 local = given;\n", functions_);
      if (Chance(20)) {
        Add("  s{}_t whole = b0.part;\n  local = local + whole.z;\n", 0);
      }
      Body(1 + Pick(4));
      Add("  return local;\n}}\n");
    }
    ++functions_;
  }

  void Entries() {
    ending_ = "return;";
    Add("void vertex_main (void)\n{{\n  f4 local = f4 {{vertex.position, 1.0}};\n");
    Body(2);
    Add("  state.uv = vertex.uv;\n  state.shade = local;\n");
    Add("  vertex_stage_output_position (local);\n}}\n");
    ending_ = Chance(50) ? "fragment_stage_discard ();" : "return;";
    Add("void fragment_main (void)\n{{\n  f4 local = sample (linear, m0, state.uv);\n");
    for (uint32_t i = 1; i < images_; ++i) {
      Add("  conditional ({})\n  {{\n    local = local * sample (linear, m{}, state.uv);\n  }}\n",
          Condition(), i);
    }
    Body(3);
    Add("  target.color = local * state.shade;\n}}\n");
  }

  Random random_;
  const bool wide_;
  std::string out_;
  std::string ending_;
  uint32_t global_flags_ = 0, instance_flags_ = 0, numbers_ = 0;
  uint32_t structs_ = 0, buffers_ = 0, images_ = 0, functions_ = 0;
};

void SetRandom(const resolve::Program& program, uint32_t number, Random& random,
               resolve::OptionValues& values) {
  const ir::Option& option = program.Get(ir::OptionId{number});
  uint32_t& bits = values.bits[number];
  switch (option.kind) {
    case ir::OptionKind::kFlag:
      bits = Below(random, 2);
      return;
    case ir::OptionKind::kUint:
      bits = option.default_value / 2 + Below(random, 4);
      return;
    case ir::OptionKind::kSint:
      bits = option.default_value + Below(random, 4) - 1;
      return;
    case ir::OptionKind::kFloat:
      bits = option.default_value + (Below(random, 3) << 20);
      return;
    case ir::OptionKind::kEnum: {
      const ir::ModuleView& module = program.module(program.ModuleOf(ir::OptionId{number}));
      bits = Below(random, static_cast<uint32_t>(module.List(option.values).size()));
      return;
    }
  }
}

}  // namespace

uint32_t Below(Random& random, uint32_t limit) { return static_cast<uint32_t>(random() % limit); }

std::string RandomProgram(uint64_t seed, bool wide) { return Writer(seed, wide).Run(); }

resolve::OptionValues RandomValues(const resolve::Program& program, Random& random) {
  resolve::OptionValues values{std::vector<uint32_t>(program.option_count())};
  for (uint32_t i = 0; i < program.option_count(); ++i) {
    SetRandom(program, i, random, values);
  }
  return values;
}

void Mutate(const resolve::Program& program, Random& random, resolve::OptionValues& values) {
  for (uint32_t i = 1 + Below(random, 3); i > 0 && program.option_count() > 0; --i) {
    SetRandom(program, Below(random, program.option_count()), random, values);
  }
}

}  // namespace kiln::property
