// SPDX-License-Identifier: MIT
// Declarations and functions of random programs.
#include "tests/support/random_program.h"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "compiler/ir/typing/typing.h"
#include "tests/support/random_program_scope.h"

namespace kiln::oracle {
namespace {

using ir::Scalar;

}  // namespace

std::string ProgramWriter::Name(std::string_view stem) {
  return fmt::format("{}{}", stem, names_++);
}

std::string ProgramWriter::TypeText(ir::TypeId type) {
  return type == pool_.bool_type() ? "b1" : ir::TypeText(pool_, type);
}

ir::TypeId ProgramWriter::VectorType() {
  if (later_ && Chance(15)) {
    return pool_.Vector(Scalar::kBool, 1 + Below(4));
  }
  constexpr Scalar kScalars[] = {Scalar::kF32, Scalar::kU32, Scalar::kS32};
  return pool_.Vector(kScalars[Below(3)], 1 + Below(4));
}

ir::TypeId ProgramWriter::ValueType() {
  if (Chance(15)) {
    const uint32_t size = 3 + Below(2);
    return pool_.Matrix(Scalar::kF32, size, size);
  }
  return !structs_.empty() && Chance(20) ? structs_[Below(static_cast<uint32_t>(structs_.size()))]
                                         : VectorType();
}

uint32_t ProgramWriter::NewVariable(const std::string& name, ir::TypeId type, PlaceExpr access) {
  const uint32_t number = variables_++;
  access.text = name;
  access.type = type;
  access.locate = [number](Run& run) { return Ref{&run.frame->variables[number], 0}; };
  visible_.push_back(std::move(access));
  return number;
}

// --- declarations
void ProgramWriter::DeclareOptions() {
  const ir::TypeId u1 = pool_.Vector(Scalar::kU32, 1);
  const uint32_t count = 1 + Below(4);
  const auto shift = static_cast<int32_t>(Below(9)) - 4;
  const float scale = static_cast<float>(Below(17)) / 4 - 2;
  declarations_ +=
      "instance flag_a: flag true;\n"
      "global count_b: uint 3;\n"
      "instance shift_c: sint -2;\n"
      "instance scale_d: float 1.5;\n"
      "instance mode_e: enum \"low\" \"mid\" \"high\";\n"
      "constant twice_f = count_b * 2u + 1u;\n";
  options_ = {{"count_b", u1, count},
              {"twice_f", u1, count * 2 + 1},
              {"shift_c", pool_.Vector(Scalar::kS32, 1), static_cast<uint32_t>(shift)},
              {"scale_d", pool_.Vector(Scalar::kF32, 1), std::bit_cast<uint32_t>(scale)},
              {"flag_a", pool_.bool_type(), Below(2)},
              {"mode_e", pool_.bool_type(), Below(3)}};
  if (later_) {
    DeclareTables();
  }
}

void ProgramWriter::DeclareStructs() {
  for (uint32_t i = Below(3); i > 0; --i) {
    const std::string name = Name("shape_t");
    std::vector<ir::ShapeMember> members;
    std::string text;
    for (uint32_t j = 1 + Below(3); j > 0; --j) {
      const ir::TypeId type = ValueType();
      const std::string field = Name("part");
      members.push_back({.name = pool_.InternText(field), .type = type});
      text += fmt::format("{} {}; ", TypeText(type), field);
    }
    structs_.push_back(pool_.InternStruct(name, members));
    declarations_ += fmt::format("struct {} {{ {}}};\n", name, text);
  }
}

Function ProgramWriter::WriteFunction(ir::TypeId result) {
  constexpr std::string_view kAccess[] = {"in", "out", "in out"};
  Function function{.name = Name("call"), .result = result};
  std::string parameters = "in u1 index";
  std::vector<Statement> body;
  visible_.clear();
  result_ = result;
  for (uint32_t i = Below(4); i > 0; --i) {
    const std::string access(kAccess[Below(3)]);
    const ir::TypeId type = ValueType();
    const std::string name = Name("given");
    parameters += fmt::format(", {} {} {}", access, TypeText(type), name);
    function.parameters.push_back({.access = access, .type = type});
    function.parameters.back().variable =
        NewVariable(name, type, {.readable = access != "out", .writable = access != "in"});
  }
  for (size_t i = 0; i < function.parameters.size(); ++i) {
    if (function.parameters[i].access == "out") {  // undefined until then
      const PlaceExpr place = visible_[i];
      const Expr value = Leaf(place.type);
      body.push_back({.text = fmt::format("{} = {};\n", place.text, value.text),
                      .run = [place, value](Run& run) {
                        Value assigned = value.eval(run);
                        *place.locate(run).variable = std::move(assigned);
                        return Flow::kNext;
                      }});
    }
  }
  body.push_back(Block(2));
  const Expr value = Expression(result, 2);
  body.push_back({.text = fmt::format("return {};\n", value.text), .run = [value](Run& run) {
                    Value returned = value.eval(run);
                    run.frame->result = std::move(returned);
                    return Flow::kReturn;
                  }});
  Statement all = Sequence(std::move(body));
  function.text =
      fmt::format("{} {} ({})\n{}", TypeText(result), function.name, parameters, Braces(all.text));
  function.body = std::move(all.run);
  return function;
}

RandomProgram ProgramWriter::Write() {
  DeclareOptions();
  DeclareStructs();
  for (uint32_t i = Below(4); i > 0; --i) {
    auto function = std::make_shared<Function>(WriteFunction(ValueType()));
    declarations_ += function->text;
    functions_.push_back(std::move(function));
  }
  visible_.clear();
  in_probe_ = true;
  std::vector<Statement> body;
  for (uint32_t i = 0; i < 6; ++i) {
    body.push_back(Block(2));
    body.push_back(Outputs());
    body.push_back(Outputs());
    body.push_back(Declaration());
  }
  const Statement all = Sequence(std::move(body));
  RandomProgram program;
  program.source = (later_ ? "rpl 2;\n" : "") + declarations_ + "void probe (in u1 index" +
                   (compute_ ? ", in out result_t result)\n" : ")\n") + Braces(all.text);
  constexpr std::string_view kModes[] = {"low", "mid", "high"};
  program.options = {fmt::format("count_b={}", options_[0].bits),
                     fmt::format("shift_c={}", static_cast<int32_t>(options_[2].bits)),
                     fmt::format("scale_d={:.2f}", std::bit_cast<float>(options_[3].bits)),
                     fmt::format("flag_a={}", options_[4].bits != 0),
                     fmt::format("mode_e={}", kModes[options_[5].bits])};
  if (later_) {
    program.options.push_back(fmt::format("spec_u={}", special_[0].bits));
    program.options.push_back(fmt::format("spec_f={:.2f}", std::bit_cast<float>(special_[1].bits)));
    program.options.push_back(fmt::format("spec_b={}", special_[2].bits != 0));
  }
  program.run = [owner = owner_, run_all = all.run](const Samples& samples, uint32_t index) {
    Frame frame;
    Run run{.sample = &samples[index], .index = index, .frame = &frame};
    for (const std::string_view output : kProgramOutputs) {
      run.outcome.written[std::string(output)] = Value(4, Cell{0, 0});
    }
    run_all(run);
    return std::move(run.outcome);
  };
  return program;
}

RandomProgram MakeRandomProgram(uint32_t seed, Language language) {
  return ProgramWriter(seed, language).Write();
}

Samples MakeRandomSamples(uint32_t seed) {
  std::mt19937 random(seed);
  Samples samples;
  for (Sample& sample : samples) {
    for (float& number : sample.f) {
      number = (static_cast<float>(random() % 129) - 64) / 8;
    }
    for (uint32_t& number : sample.u) {
      number = random() % 2 == 0 ? random() % 40 : random();
    }
    for (int32_t& number : sample.s) {
      number = random() % 2 == 0 ? static_cast<int32_t>(random() % 40) - 20
                                 : static_cast<int32_t>(random());
    }
  }
  return samples;
}

}  // namespace kiln::oracle
