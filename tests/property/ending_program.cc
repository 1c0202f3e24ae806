// SPDX-License-Identifier: MIT
#include "tests/property/ending_program.h"

#include <iterator>

#include <fmt/format.h>

#include "tests/property/random_program.h"

namespace kiln::property {
namespace {

constexpr uint32_t kFlags = 4;
constexpr uint32_t kMostDepth = 4;

// Statements of both languages are spelled alike but for their loops and switches.
class Writer {
 public:
  Writer(ir::Language language, uint64_t seed)
      : hlsl_(language == ir::Language::kHlsl), random_(seed) {}

  std::string Run() {
    for (uint32_t i = 0; i < kFlags; ++i) {
      Add(hlsl_ ? "[[kiln::option(instance)]] static const bool K{} = {};\n"
                : "override K{} : bool = {};\n",
          i, Chance(50));
    }
    Add(hlsl_ ? "[[kiln::option(instance)]] static const int N = {};\n"
              : "override N : i32 = {};\n",
        Pick(4));
    for (const char* name : {"first", "second"}) {
      Function(name);
    }
    Add(hlsl_ ? "float4 main(float4 at : SV_Position) : SV_Target {{\n  float4 p = at;\n"
              : "@fragment fn main(@builtin(position) at : vec4f) -> @location(0) vec4f {{\n"
                "  var p = at;\n");
    calls_ = true;
    Block(0, {});
    Add("  return p;\n}}\n");
    return std::move(out_);
  }

 private:
  struct Around {
    bool loop = false;        // there is a loop to go on with
    bool left = false;        // there is a loop or a switch to leave
    bool continuing = false;  // nothing leaves this block but at its end
  };

  uint32_t Pick(uint32_t limit) { return Below(random_, limit); }
  bool Chance(uint32_t percent) { return Pick(100) < percent; }
  template <class... Args>
  void Add(const char* format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), fmt::runtime(format), std::forward<Args>(args)...);
  }

  void Function(const char* name) {
    Add(hlsl_ ? "float4 {}(float4 a) {{\n  float4 p = a;\n"
              : "fn {}(a : vec4f) -> vec4f {{\n  var p = a;\n",
        name);
    Block(0, {});
    Add("  return p;\n}}\n");
  }

  std::string Condition() {
    switch (Pick(6)) {
      case 0:
        return fmt::format("p.{} > {}.0", "xyzw"[Pick(4)], Pick(5));
      case 1:
        return fmt::format("!K{}", Pick(kFlags));
      case 2:
        return fmt::format("N > {}", Pick(4));
      case 3:
        return fmt::format("K{} && p.x > {}.0", Pick(kFlags), Pick(5));
      default:
        return fmt::format("K{}", Pick(kFlags));
    }
  }

  void Block(uint32_t depth, const Around& around) {
    for (uint32_t count = 1 + Pick(3); count > 0; --count) {
      Statement(depth + 1, around);
    }
  }
  void Braces(uint32_t depth, const Around& around) {
    Add("{{\n");
    Block(depth, around);
    Add("}}\n");
  }

  void Statement(uint32_t depth, const Around& around) {
    if (depth < kMostDepth && Chance(60)) {
      return Compound(depth, around);
    }
    const uint32_t kind = around.continuing ? Pick(5) : Pick(9);
    if (kind == 0) {
      Add("discard;\n");
    } else if (kind == 1 && calls_) {
      Add("p = {}(p);\n", Chance(50) ? "first" : "second");
    } else if (kind == 5) {
      Add("return p * {}.0;\n", Pick(9));
    } else if (kind == 6 && around.left) {
      Add("break;\n");
    } else if (kind == 7 && around.loop) {
      Add("continue;\n");
    } else if (kind == 8 && hlsl_) {
      Add("clip(p.x - {}.0);\n", Pick(5));
    } else {
      Add("p += {}.0;\n", 1 + Pick(9));
    }
  }

  void Compound(uint32_t depth, const Around& around) {
    const uint32_t kind = around.continuing ? Pick(4) : Pick(8);
    if (kind < 3) {
      Add("if ({}) ", Condition());
      Braces(depth, around);
      if (Chance(40)) {
        Add("else ");
        Braces(depth, around);
      }
    } else if (kind == 3) {
      Braces(depth, around);
    } else if (kind == 4) {
      Switch(depth, around);
    } else {
      Loop(depth);
    }
  }

  void Switch(uint32_t depth, const Around& around) {
    Add("switch ({}) {{\n", hlsl_ ? "(int) p.x" : "i32(p.x)");
    const Around inside{.loop = around.loop, .left = true};
    for (uint32_t i = 0; i < 2; ++i) {
      Add(hlsl_ ? "case {}: {{\n" : "case {} {{\n", i);
      Block(depth, inside);
      Add(hlsl_ ? "}}\nbreak;\n" : "}}\n");
    }
    Add(hlsl_ ? "default: {{\n" : "default {{\n");
    Block(depth, inside);
    Add(hlsl_ ? "}}\nbreak;\n}}\n" : "}}\n}}\n");
  }

  void Loop(uint32_t depth) {
    const Around inside{.loop = true, .left = true};
    const uint32_t kind = Pick(3);
    if (kind == 0) {
      Add(hlsl_ ? "for (int i{0} = 0; i{0} < 3; ++i{0}) " : "for (var i{0} = 0; i{0} < 3; i{0}++) ",
          depth);
      Braces(depth, inside);
    } else if (kind == 1) {
      Add("while ({}) ", Chance(80) ? fmt::format("p.y > {}.0", Pick(5)) : Condition());
      Braces(depth, inside);
    } else if (hlsl_) {
      Add("do ");
      Braces(depth, inside);
      Add("while (p.z < {}.0);\n", Pick(5));
    } else {
      Add("loop {{\n");
      Block(depth, inside);
      Add("continuing {{\n");
      Block(depth, {.continuing = true});
      Add("break if p.z > {}.0;\n}}\n}}\n", Pick(5));
    }
  }

  const bool hlsl_;
  Random random_;
  std::string out_;
  bool calls_ = false;  // the functions that can be called are declared
};

}  // namespace

std::string EndingProgram(ir::Language language, uint64_t seed) {
  return Writer(language, seed).Run();
}

}  // namespace kiln::property
