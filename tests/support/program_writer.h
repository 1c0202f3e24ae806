// SPDX-License-Identifier: MIT
// For tests: programs written by hand, types in the spelling of case files.
//   ProgramWriter w;
//   w.Struct("S", {{"v", "vec4<f32>"}, {"t", "Texture2D"}});
//   w.Add("a", "ConstantBuffer<S>").registers = {{.text = "b2"}};
//   EXPECT_EQ(w.Places(Platform::kD3d12), "a b2,space0; a.t t0,space0");
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compiler/layout/bytes.h"
#include "compiler/layout/cases/case_types.h"
#include "compiler/layout/program.h"
#include "compiler/layout/program_layout.h"

namespace kiln::layout {

class ProgramWriter {
 public:
  struct Field {
    std::string name;
    std::string type;
  };

  TypeId Type(std::string_view text);
  TypeId Struct(const std::string& name, const std::vector<Field>& fields);
  // With offsets, sizes, alignments and orders.
  TypeId StructOf(const std::string& name, const std::vector<Member>& members);

  // What is added from now on belongs to it. The first unit, "u0", is there already.
  void BeginUnit(std::string_view name);
  // Valid until the next Add.
  Parameter& Add(std::string_view name, std::string_view type);
  Parameter& Add(std::string_view name, TypeId type);
  EntryPoint& Entry(std::string_view name, std::string_view stage);

  ProgramLayout Run(Platform platform);
  // "<globals> b0,space0; a t0,space0", or what Messages gives if there are errors.
  std::string Places(Platform platform);
  // "LAY2001 'b' overlaps 'a' at t3; …"
  std::string Messages(Platform platform);
  std::string Text(Platform platform);  // the dump

  Program& program() { return program_; }
  Settings& settings() { return program_.settings; }
  Types& types() { return types_; }
  ByteLayouts& bytes() { return bytes_; }

 private:
  Types types_;
  CaseTypes written_{types_};
  ByteLayouts bytes_{types_};
  Program program_{.units = {{.name = "u0"}}};
};

}  // namespace kiln::layout
