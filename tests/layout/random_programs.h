// SPDX-License-Identifier: MIT
// Random programs in the form of case files, so that a test can change one like data. Names of
// parameters, fields and structs begin with zp, zf and zS. Equal seeds give equal programs.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "compiler/layout/cases/case_types.h"

namespace kiln::layout {

class RandomPrograms {
 public:
  explicit RandomPrograms(uint32_t seed) : random_(seed) {}

  struct Wanted {
    bool explicit_bindings = false;  // each parameter with probability 0.2
    bool blocks = true;              // parameter blocks
    bool unbounded = false;
    bool imports = true;
  };

  // One case of section `binding`.
  Json Program(const Wanted& wanted) {
    next_ = 0;
    levels_.assign(3, {});
    Json item = {
        {"structs", Structs(wanted)}, {"units", Json::array()}, {"imports", Json::array()}};
    for (uint32_t i = 0, count = 1 + Below(3); i < count; ++i) {
      item["units"].push_back(Unit(fmt::format("u{}", i), wanted));
    }
    for (uint32_t i = 0, count = wanted.imports ? Below(3) : 0; i < count; ++i) {
      item["imports"].push_back(Unit(fmt::format("m{}", i), wanted));
    }
    return item;
  }

  Json Parameter(const Wanted& wanted) {
    Json parameter = {{"name", fmt::format("zp{}", next_++)}, {"type", ParameterType(wanted)}};
    if (wanted.explicit_bindings && Below(5) == 0) {
      Bind(parameter);
    }
    return parameter;
  }

  // One case of section `rpl`.
  Json Modules() {
    next_ = 0;
    Json item = {{"modules", Json::array()}};
    for (uint32_t i = 0, count = 1 + Below(3); i < count; ++i) {
      Json decls = Json::array();
      for (uint32_t d = 0, many = Below(9); d < many; ++d) {
        decls.push_back(Declaration());
      }
      item["modules"].push_back({{"name", fmt::format("m{}", i)}, {"decls", decls}});
    }
    return item;
  }

  Json Declaration() {
    static const std::vector<std::string> kinds = {
        "uniform_buffer",       "read_only_storage_buffer", "sampler",
        "image_color_2d",       "image_color_3d",           "image_color_cube",
        "image_color_2d_array", "image_depth_2d",           "image_depth_3d",
        "image_depth_cube",     "image_depth_2d_array",     "read_write_storage_buffer",
        "storage_image_2d"};
    static const std::vector<std::string> sets = {"pass", "material", "object", "shared"};
    const std::string kind = Pick(kinds);
    Json decl = {{"kind", kind}, {"set", Pick(sets)}, {"name", fmt::format("zp{}", next_++)}};
    if (kind.ends_with("buffer")) {
      decl["fields"] = Json::array({Json::array({"zf0", "f4x4"}), Json::array({"zf1", "f4"})});
    } else if (kind.starts_with("image") && Below(4) == 0) {
      decl["count"] = 2 + Below(4);
    }
    return decl;
  }

  uint32_t Below(uint32_t limit) { return random_() % limit; }
  template <class T>
  const T& Pick(const std::vector<T>& from) {
    return from[Below(static_cast<uint32_t>(from.size()))];
  }

  static const std::vector<std::string>& Resources() {
    static const std::vector<std::string> resources = {"Texture2D",
                                                       "TextureCube",
                                                       "Buffer",
                                                       "ByteAddressBuffer",
                                                       "RWTexture2D",
                                                       "SamplerState",
                                                       "RWStructuredBuffer",
                                                       "SamplerComparisonState",
                                                       "RWByteAddressBuffer",
                                                       "AppendStructuredBuffer",
                                                       "Sampler2D"};
    return resources;
  }

 private:
  std::string Value() {
    static const std::vector<std::string> values = {
        "f32",           "u32",           "i32",       "f16",       "f64",
        "vec2<f32>",     "vec3<f32>",     "vec4<u32>", "vec3<f16>", "mat_r3c3<f32>",
        "mat_r2c4<f32>", "mat_r4c2<f32>", "bool",      "i16",       "u64"};
    return Pick(values);
  }
  std::string Extent() { return Below(4) == 0 ? fmt::format("[{}]", 1 + Below(4)) : ""; }

  // Structs of level i hold those of the levels below; parameter blocks only in the last level.
  Json Structs(const Wanted& wanted) {
    Json structs = Json::object();
    for (uint32_t level = 0; level < levels_.size(); ++level) {
      for (uint32_t i = 0, count = 1 + Below(2); i < count; ++i) {
        Json fields = Json::array();
        for (uint32_t f = 0, many = 1 + Below(4); f < many; ++f) {
          Json field = Json::array({fmt::format("zf{}", f), FieldType(level, wanted)});
          if (Below(5) == 0) {
            field.push_back("row");
          }
          fields.push_back(std::move(field));
        }
        const std::string name = fmt::format("zS{}x{}", level, i);
        structs[name] = std::move(fields);
        levels_[level].push_back(name);
      }
    }
    return structs;
  }

  std::string FieldType(uint32_t level, const Wanted& wanted) {
    switch (Below(level == 0 ? 2 : 4)) {
      case 0:
        return Value() + Extent();
      case 1:
        return Pick(Resources()) + Extent();
      case 2:
        return Pick(levels_[level - 1]) + Extent();
      default:
        if (wanted.blocks && level == 2 && Below(2) == 0) {
          return "ParameterBlock<" + Pick(levels_[0]) + ">";
        }
        return "ConstantBuffer<" + Pick(levels_[level - 1]) + ">";
    }
  }

  std::string AnyStruct() { return Pick(levels_[Below(3)]); }

  std::string ParameterType(const Wanted& wanted) {
    switch (Below(8)) {
      case 0:
        return Value() + Extent();
      case 1:
        return AnyStruct() + Extent();
      case 2:
        return "ConstantBuffer<" + AnyStruct() + ">" + Extent();
      case 3:
        if (wanted.blocks) {
          return "ParameterBlock<" + AnyStruct() + ">" + Extent();
        }
        return Pick(Resources());
      case 4:
        if (wanted.unbounded) {
          return Pick(Resources()) + "[]";
        }
        return Pick(Resources());
      default:
        return Pick(Resources()) + Extent();
    }
  }

  Json Unit(const std::string& name, const Wanted& wanted) {
    Json parameters = Json::array();
    for (uint32_t i = 0, count = Below(7); i < count; ++i) {
      parameters.push_back(Parameter(wanted));
    }
    return {{"name", name}, {"params", std::move(parameters)}};
  }

  void Bind(Json& parameter) {
    const std::string type = parameter["type"];
    if (type.starts_with("ParameterBlock")) {
      parameter["d3d"] = {{"space", Below(6)}};
      parameter["vk"] = {{"set", Below(6)}};
      return;
    }
    const char letter = type.starts_with("RW")               ? 'u'
                        : type.starts_with("Sampler")        ? 's'
                        : type.starts_with("ConstantBuffer") ? 'b'
                                                             : 't';
    parameter["d3d"] = {{"reg", fmt::format("{}{}", letter, Below(12))}, {"space", Below(2)}};
    parameter["vk"] = {{"binding", Below(16)}, {"set", Below(2)}};
  }

  std::mt19937 random_;
  uint32_t next_ = 0;
  std::vector<std::vector<std::string>> levels_;
};

}  // namespace kiln::layout
