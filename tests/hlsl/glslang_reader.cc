// SPDX-License-Identifier: MIT
#include "tests/hlsl/glslang_reader.h"

#include <glslang/Public/ResourceLimits.h>
#include <glslang/Public/ShaderLang.h>
#include <glslang/SPIRV/GlslangToSpv.h>

namespace kiln::hlsl {
namespace {

// Tables live as long as the program.
struct Process {
  Process() { glslang::InitializeProcess(); }
  ~Process() { glslang::FinalizeProcess(); }
};

}  // namespace

ReadByGlslang CompileWithGlslang(const std::string& text) {
  static const Process process;
  const auto messages =
      static_cast<EShMessages>(EShMsgSpvRules | EShMsgVulkanRules | EShMsgReadHlsl);
  glslang::TShader shader(EShLangCompute);
  const char* source = text.c_str();
  const int length = static_cast<int>(text.size());
  shader.setStringsWithLengths(&source, &length, 1);
  shader.setEntryPoint("main");
  shader.setSourceEntryPoint("main");
  shader.setEnvInput(glslang::EShSourceHlsl, EShLangCompute, glslang::EShClientVulkan, 100);
  shader.setEnvClient(glslang::EShClientVulkan, glslang::EShTargetVulkan_1_1);
  shader.setEnvTarget(glslang::EShTargetSpv, glslang::EShTargetSpv_1_3);
  if (!shader.parse(GetDefaultResources(), 450, false, messages)) {
    return {.words = {}, .log = shader.getInfoLog()};
  }
  glslang::TProgram program;
  program.addShader(&shader);
  if (!program.link(messages)) {
    return {.words = {}, .log = program.getInfoLog()};
  }
  ReadByGlslang out;
  glslang::SpvOptions options;
  options.disableOptimizer = true;
  glslang::GlslangToSpv(*program.getIntermediate(EShLangCompute), out.words, &options);
  return out;
}

}  // namespace kiln::hlsl
