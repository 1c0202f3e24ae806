// SPDX-License-Identifier: MIT
#include "tests/support/program_writer.h"

#include "compiler/layout/cases/records.h"
#include "compiler/layout/engine/engine.h"
#include "compiler/layout/reflection/dump.h"

namespace kiln::layout {

TypeId ProgramWriter::Type(std::string_view text) { return written_.Read(text).value(); }

TypeId ProgramWriter::Struct(const std::string& name, const std::vector<Field>& fields) {
  std::vector<Member> members;
  members.reserve(fields.size());
  for (const Field& field : fields) {
    members.push_back({.name = types_.Keep(field.name), .type = Type(field.type)});
  }
  return StructOf(name, members);
}

TypeId ProgramWriter::StructOf(const std::string& name, const std::vector<Member>& members) {
  const TypeId type = types_.Struct(types_.Keep(name), members);
  written_.Name(name, type);
  return type;
}

void ProgramWriter::BeginUnit(std::string_view name) {
  program_.units.push_back({.name = types_.Keep(name)});
}

Parameter& ProgramWriter::Add(std::string_view name, std::string_view type) {
  return Add(name, Type(type));
}

Parameter& ProgramWriter::Add(std::string_view name, TypeId type) {
  program_.units.back().parameters.push_back({.name = types_.Keep(name), .type = type});
  return program_.units.back().parameters.back();
}

EntryPoint& ProgramWriter::Entry(std::string_view name, std::string_view stage) {
  program_.units.back().entry_points.push_back(
      {.name = types_.Keep(name), .stage = types_.Keep(stage)});
  return program_.units.back().entry_points.back();
}

ProgramLayout ProgramWriter::Run(Platform platform) {
  program_.platform = platform;
  return LayOut(program_, types_, bytes_);
}

std::string ProgramWriter::Places(Platform platform) {
  const ProgramLayout layout = Run(platform);
  if (!layout.ok()) {
    return Messages(platform);
  }
  std::string text;
  const auto add = [&](std::string_view path, const std::string& place) {
    text += (text.empty() ? "" : "; ") + std::string(path) + " " + place;
  };
  if (layout.globals) {
    add("<globals>", PlaceText(platform, layout.globals->place));
  }
  for (const PlacedParameter& parameter : layout.parameters) {
    if (parameter.block && parameter.spaces) {
      add(parameter.name, PlaceText(platform, *parameter.spaces));
    }
    if (parameter.spec_id) {
      add(parameter.name, "spec " + std::to_string(*parameter.spec_id));
    }
    for (const PlacedLeaf& leaf : parameter.leaves) {
      add(leaf.path, PlacesText(platform, leaf));
    }
  }
  return text;
}

std::string ProgramWriter::Messages(Platform platform) {
  std::string text;
  for (const Finding& finding : Run(platform).findings) {
    text += (text.empty() ? "" : "; ") + std::string(CodeText(finding.diagnostic.code)) + " " +
            Message(finding.diagnostic);
  }
  return text;
}

std::string ProgramWriter::Text(Platform platform) {
  const ProgramLayout layout = Run(platform);
  return Dump(program_, layout, bytes_);
}

}  // namespace kiln::layout
