// SPDX-License-Identifier: MIT
#include "compiler/recipe/bindings.h"

#include <algorithm>
#include <array>
#include <map>
#include <span>
#include <vector>

#include <fmt/format.h>

namespace kiln::recipe {
namespace {

constexpr unsigned kSets = 4;           // of every program (spec/rpl 11.3)
constexpr unsigned kMetalPush = 30;     // the last buffer
constexpr unsigned kDirect3dPush = 13;  // the last constant buffer of shader model 5.0
constexpr uint32_t kRegisterSpaces = 51;

// The kinds that a program of kiln can bind. Push constants are no resource here: they have no
// number of their own and get a place that no set and binding can come to.
constexpr std::array kKinds = {
    SPVC_RESOURCE_TYPE_UNIFORM_BUFFER, SPVC_RESOURCE_TYPE_STORAGE_BUFFER,
    SPVC_RESOURCE_TYPE_STORAGE_IMAGE,  SPVC_RESOURCE_TYPE_SAMPLED_IMAGE,
    SPVC_RESOURCE_TYPE_SEPARATE_IMAGE, SPVC_RESOURCE_TYPE_SEPARATE_SAMPLERS};

struct Resource {
  unsigned set = 0;
  unsigned binding = 0;
  spvc_resource_type kind = SPVC_RESOURCE_TYPE_UNKNOWN;
  unsigned count = 1;  // of an array
  spvc_variable_id id = 0;
  std::string name;
};

// Only HLSL from 5.1 on keeps sets apart, as spaces. Everywhere else set and binding become one
// number.
bool HasSpaces(const Dialect& dialect) {
  return dialect.language == Language::kHlsl && dialect.version >= kRegisterSpaces;
}
bool IsFlat(const Dialect& dialect) { return !HasSpaces(dialect); }

// The binding counts in steps of four and the set fills the steps: numbers of four sets never meet,
// and small bindings give small numbers, which MSL and old HLSL need.
unsigned FlatNumber(const Resource& resource) { return kSets * resource.binding + resource.set; }

// Of a block the name of the block, not of the variable that holds it.
// The block is what a source calls by its name, and what reflections of other tools show.
std::string NameOf(spvc_compiler compiler, const spvc_reflected_resource& resource) {
  const char* const variable = spvc_compiler_get_name(compiler, resource.id);
  const char* const block = spvc_compiler_get_name(compiler, resource.base_type_id);
  const bool has_block = block != nullptr && *block != '\0';
  return has_block ? block : variable == nullptr ? "" : variable;
}

// A runtime array has dimension 0 and counts as one item: how many it takes is known to nobody
// here.
unsigned CountOf(spvc_compiler compiler, const spvc_reflected_resource& resource) {
  spvc_type type = spvc_compiler_get_type_handle(compiler, resource.type_id);
  unsigned count = 1;
  for (unsigned i = 0; i < spvc_type_get_num_array_dimensions(type); ++i) {
    count *= std::max(spvc_type_get_array_dimension(type, i), SpvId{1});
  }
  return count;
}

// The order of the list of SPIRV-Cross depends on ids, which a change elsewhere in the module
// moves; set and binding do not, so the comments at the end of the text stay the same.
// By set and binding.
spvc_result ReadResources(spvc_compiler compiler, std::vector<Resource>& out) {
  spvc_resources resources = nullptr;
  spvc_result result = spvc_compiler_create_shader_resources(compiler, &resources);
  for (const spvc_resource_type kind : kKinds) {
    const spvc_reflected_resource* list = nullptr;
    size_t count = 0;
    if (result == SPVC_SUCCESS) {
      result = spvc_resources_get_resource_list_for_type(resources, kind, &list, &count);
    }
    for (const spvc_reflected_resource& row : std::span(list, result == SPVC_SUCCESS ? count : 0)) {
      Resource& one = out.emplace_back();
      one.set = spvc_compiler_get_decoration(compiler, row.id, SpvDecorationDescriptorSet);
      one.binding = spvc_compiler_get_decoration(compiler, row.id, SpvDecorationBinding);
      one.kind = kind;
      one.id = row.id;
      one.count = CountOf(compiler, row);
      one.name = NameOf(compiler, row);
    }
  }
  std::ranges::sort(out, [](const Resource& a, const Resource& b) {
    return std::pair(a.set, a.binding) < std::pair(b.set, b.binding);
  });
  return result;
}

// OpenGL has no samplers of their own: every pair that is used becomes one name.
spvc_result CombineSamplers(spvc_compiler compiler, const std::vector<Resource>& resources,
                            std::string& map) {
  spvc_variable_id dummy = 0;
  // The dummy is what a fetch is combined with, which has no sampler. It must be made before the
  // pairs are built.
  spvc_result result = spvc_compiler_build_dummy_sampler_for_combined_images(compiler, &dummy);
  if (result == SPVC_SUCCESS) {
    result = spvc_compiler_build_combined_image_samplers(compiler);
  }
  const spvc_combined_image_sampler* pairs = nullptr;
  size_t count = 0;
  if (result == SPVC_SUCCESS) {
    result = spvc_compiler_get_combined_image_samplers(compiler, &pairs, &count);
  }
  // By variable; the dummy is not among them and gives the empty name, which marks a pair without a
  // sampler.
  std::map<spvc_variable_id, std::string> names;
  for (const Resource& resource : resources) {
    names[resource.id] = resource.name;
  }
  for (const spvc_combined_image_sampler& pair :
       std::span(pairs, result == SPVC_SUCCESS ? count : 0)) {
    const std::string& sampler = names[pair.sampler_id];
    const std::string& image = names[pair.image_id];
    const std::string name = image + (sampler.empty() ? std::string() : "_" + sampler);
    spvc_compiler_set_name(compiler, pair.combined_id, name.c_str());
    map +=
        fmt::format("// kiln: '{}' is image '{}'{}\n", name, image,
                    sampler.empty() ? std::string() : fmt::format(" with sampler '{}'", sampler));
  }
  return result;
}

// Where it is in the text.
std::string PlaceText(const Resource& resource, const Dialect& dialect) {
  return HasSpaces(dialect) ? fmt::format("register {}, space {}", resource.binding, resource.set)
                            : fmt::format("{}", FlatNumber(resource));
}

// AboveLimit keeps flat numbers of MSL below 30 and those of HLSL 5.0 below 13, and no program has
// a set 4.
// A place that nothing else has.
spvc_result PlacePushConstants(spvc_compiler compiler, const Dialect& dialect) {
  const SpvExecutionModel stage = spvc_compiler_get_execution_model(compiler);
  if (dialect.language == Language::kMsl) {
    spvc_msl_resource_binding binding{};
    spvc_msl_resource_binding_init(&binding);
    binding.stage = stage;
    binding.desc_set = SPVC_MSL_PUSH_CONSTANT_DESC_SET;
    binding.binding = SPVC_MSL_PUSH_CONSTANT_BINDING;
    binding.msl_buffer = kMetalPush;
    return spvc_compiler_msl_add_resource_binding(compiler, &binding);
  }
  if (dialect.language == Language::kHlsl) {
    spvc_hlsl_resource_binding binding{};
    spvc_hlsl_resource_binding_init(&binding);
    binding.stage = stage;
    binding.desc_set = SPVC_HLSL_PUSH_CONSTANT_DESC_SET;
    binding.binding = SPVC_HLSL_PUSH_CONSTANT_BINDING;
    binding.cbv.register_space = HasSpaces(dialect) ? kSets : 0;
    binding.cbv.register_binding = HasSpaces(dialect) ? 0 : kDirect3dPush;
    return spvc_compiler_hlsl_add_resource_binding(compiler, &binding);
  }
  return SPVC_SUCCESS;
}

// GLSL numbers are those of the implementation, which the text cannot know; spaces have room for
// everything.
// Numbers that the language does not have; empty: there is none.
std::string AboveLimit(const Resource& resource, const Dialect& dialect) {
  if (!IsFlat(dialect) || dialect.language == Language::kGlsl) {
    return {};
  }
  const bool metal = dialect.language == Language::kMsl;
  // 16 samplers in both languages; constant buffers up to the one that push constants take;
  // textures have at least 128 places.
  const unsigned limit = resource.kind == SPVC_RESOURCE_TYPE_SEPARATE_SAMPLERS ? 16
                         : resource.kind == SPVC_RESOURCE_TYPE_UNIFORM_BUFFER ||
                                 resource.kind == SPVC_RESOURCE_TYPE_STORAGE_BUFFER
                             ? (metal ? kMetalPush : kDirect3dPush)
                             : 128;
  return FlatNumber(resource) + resource.count <= limit
             ? std::string()
             : fmt::format(
                   "'{}' of set {} binding {} would be number {}, and {} has {} of its kind",
                   resource.name, resource.set, resource.binding, FlatNumber(resource),
                   metal ? "MSL" : "HLSL 5.0", limit);
}

// An array takes a number for each of its items, in all languages but GLSL.
// Quadratic in the resources of one stage, which are a few dozen at most. Without arrays there is
// nothing to find, because flat numbers of single items differ.
std::string Overlap(const std::vector<Resource>& resources, const Dialect& dialect) {
  if (dialect.language == Language::kGlsl) {
    return {};
  }
  const auto number = [&](const Resource& one) {
    return IsFlat(dialect) ? FlatNumber(one) : one.binding;
  };
  for (const Resource& array : resources) {
    for (const Resource& other : resources) {
      const bool same_space = IsFlat(dialect) || array.set == other.set;
      if (array.kind == other.kind && same_space && array.id != other.id &&
          number(other) >= number(array) && number(other) < number(array) + array.count) {
        return fmt::format("the {} items of '{}' would take the number of '{}'", array.count,
                           array.name, other.name);
      }
    }
  }
  return {};
}

}  // namespace

spvc_result PlaceResources(spvc_compiler compiler, const Dialect& dialect, std::string& map,
                           std::string& wrong) {
  std::vector<Resource> resources;
  spvc_result result = ReadResources(compiler, resources);
  for (Resource& resource : resources) {
    if (resource.name.empty()) {
      resource.name = fmt::format("set{}_binding{}", resource.set, resource.binding);
      spvc_compiler_set_name(compiler, resource.id, resource.name.c_str());
    }
    // The first fault is told and the rest of the list is still walked, so that names and comments
    // are whole either way.
    wrong += wrong.empty() ? AboveLimit(resource, dialect) : std::string();
    map += fmt::format("// kiln: set {} binding {} '{}' is {}\n", resource.set, resource.binding,
                       resource.name, PlaceText(resource, dialect));
  }
  wrong = wrong.empty() ? Overlap(resources, dialect) : wrong;
  // A pair is called after its image and sampler, so all of them have their names by now.
  if (result == SPVC_SUCCESS && dialect.language == Language::kGlsl) {
    result = CombineSamplers(compiler, resources, map);
  }
  if (result == SPVC_SUCCESS) {
    result = PlacePushConstants(compiler, dialect);
  }
  // Last of all: from here on set and binding in the module are no longer those of the source.
  for (const Resource& resource : resources) {
    if (IsFlat(dialect)) {
      spvc_compiler_set_decoration(compiler, resource.id, SpvDecorationBinding,
                                   FlatNumber(resource));
      spvc_compiler_set_decoration(compiler, resource.id, SpvDecorationDescriptorSet, 0);
    }
  }
  return result;
}

}  // namespace kiln::recipe
