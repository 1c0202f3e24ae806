// SPDX-License-Identifier: MIT
// Requests that are as much work as somebody outside can ask for within the limits: for tests of
// what a call does while nobody waits for it any more.
#pragma once

#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "server/test_server.h"

namespace kiln::server {

inline constexpr char kEnd[] = "vertex_stage_output_position (f4 {x}); }\n";

// A function whose body is `statement(0)`, `statement(1)`, … behind `before`.
inline std::string Many(int count, const std::string& before,
                        const std::function<std::string(int)>& statement) {
  std::string text = before + "void v (void) { f1 x = 0.0;\n";
  for (int i = 0; i < count; ++i) {
    text += statement(i);
  }
  return text + kEnd;
}

inline std::string ManyStatements(int count) {
  return Many(count, {}, [](int i) { return fmt::format("x = x + {}.0;\n", i); });
}

inline std::string ManyMistakes(int count) {
  return Many(count, {}, [](int i) { return fmt::format("x = q{};\n", i); });
}

// Each with its declaration, its place and its record in the metadata.
inline std::string ManyBuffers(int count) {
  std::string buffers;
  for (int i = 0; i < count; ++i) {
    buffers += fmt::format("set_material read_only_storage_buffer b{} {{ f4 m; }};\n", i);
  }
  return Many(count, buffers, [](int i) { return fmt::format("x = x + b{}.m.x;\n", i); });
}

inline std::string ManyFields(int buffers, int fields) {
  std::string text;
  for (int b = 0; b < buffers; ++b) {
    text += fmt::format("set_material read_only_storage_buffer b{} {{\n", b);
    for (int i = 0; i < fields; ++i) {
      text += fmt::format("f4 m{}_{};\n", b, i);
    }
    text += "};\n";
  }
  return Many(buffers, text, [](int i) { return fmt::format("x = x + b{0}.m{0}_0.x;\n", i); });
}

inline std::string Flags(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    text += fmt::format("global f{}: flag false;\n", i);
  }
  return text;
}

inline std::string ManyOptions(int count) {
  return Many(count, Flags(count),
              [](int i) { return fmt::format("conditional (f{0}) {{ x = x + {0}.0; }}\n", i); });
}

// Every function reads every option.
inline std::string WidelyRead(int options, int functions) {
  std::string any = "false";
  for (int i = 0; i < options; ++i) {
    any += fmt::format(" || f{}", i);
  }
  std::string text = Flags(options) + "constant any = " + any + ";\n";
  for (int i = 0; i < functions; ++i) {
    text += fmt::format(
        "f1 g{} (void) {{ f1 x = 0.0; conditional (any) {{ x = 1.0; }} return x; }}\n", i);
  }
  return Many(functions, text, [](int i) { return fmt::format("x = g{} ();\n", i); });
}

// Of one function, v.
inline v1::Program ProgramFrom(const std::string& text, bool inline_text) {
  v1::Program program = ProgramOf(text, inline_text);
  program.clear_entry_points();
  v1::EntryPoint& entry = *program.add_entry_points();
  entry.set_stage(v1::EntryPoint::VERTEX);
  entry.set_function("v");
  return program;
}

// Points that are all built; `lines` of each are its own.
inline v1::StartBatchRequest ManyResults(int flags, int lines) {
  v1::StartBatchRequest request;
  request.set_project("results");
  request.set_detach(true);
  v1::ProgramSpace& space = *request.add_spaces();
  const std::string text = Many(flags, Flags(flags), [&](int i) {
    std::string body;
    for (int k = 0; k < lines; ++k) {
      body += fmt::format("x = x + {}.0;\n", i * lines + k);
    }
    return fmt::format("conditional (f{}) {{ {} }}\n", i, body);
  });
  *space.mutable_program() = ProgramFrom(text, true);
  for (int i = 0; i < flags; ++i) {
    v1::Axis& axis = *space.add_axes();
    axis.set_name(fmt::format("f{}", i));
    axis.set_all(true);
  }
  return request;
}

// Named one by one: the first `count` combinations of the program's flags f0, f1, …
inline std::vector<v1::Variant> Combinations(const v1::Program& program, int count) {
  std::vector<v1::Variant> variants(static_cast<size_t>(count));
  for (int i = 0; i < count; ++i) {
    v1::Variant& variant = variants[static_cast<size_t>(i)];
    *variant.mutable_inline_program() = program;
    for (int bit = 0; i >> bit != 0; ++bit) {
      v1::OptionValue& option = *variant.add_options();
      option.set_name(fmt::format("f{}", bit));
      option.set_flag((i >> bit & 1) != 0);
    }
  }
  return variants;
}

// Exclusions that no order of the axes takes apart, and a space that can only be walked.
inline v1::ProgramSpace Tangled(int flags, int exclusions) {
  v1::ProgramSpace space;
  *space.mutable_program() = ProgramFrom(ManyOptions(flags), true);
  for (int i = 0; i < flags; ++i) {
    v1::Axis& axis = *space.add_axes();
    axis.set_name(fmt::format("f{}", i));
    axis.set_all(true);
  }
  std::mt19937 random(7);
  const auto literal = [&] {
    return fmt::format("{}f{}", random() % 2 == 0 ? "!" : "",
                       random() % static_cast<uint32_t>(flags));
  };
  for (int i = 0; i < exclusions; ++i) {
    space.add_exclude()->set_text(
        fmt::format("{} && {} && {} && {}", literal(), literal(), literal(), literal()));
  }
  return space;
}

// As a shader compiler's output compresses: not well, but by more than a tenth.
inline std::string LongBlob(size_t size) {
  std::mt19937 random(3);
  std::string blob;
  blob.reserve(size + 4);
  while (blob.size() < size) {
    const uint32_t word = random() % 977;
    blob.append(reinterpret_cast<const char*>(&word), sizeof(word));
  }
  blob.resize(size);
  return blob;
}

}  // namespace kiln::server
