// SPDX-License-Identifier: MIT
#include "tests/bench/glslang_peer.h"

#include <cstdio>
#include <cstdlib>

#include <glslang/Public/ResourceLimits.h>
#include <glslang/Public/ShaderLang.h>
#include <glslang/SPIRV/GlslangToSpv.h>

namespace kiln::bench {
namespace {

[[noreturn]] void Fail(const char* log) {
  (void)std::fprintf(stderr, "glslang: %s\n", log);
  std::exit(1);
}

// SPIR-V with names, not optimised.
std::vector<uint32_t> WordsOf(glslang::TShader& shader, EShLanguage language,
                              EShMessages messages) {
  glslang::TProgram program;
  program.addShader(&shader);
  if (!program.link(messages)) {
    Fail(program.getInfoLog());
  }
  std::vector<uint32_t> words;
  glslang::SpvOptions options;
  options.disableOptimizer = true;
  options.generateDebugInfo = false;
  options.stripDebugInfo = false;
  glslang::GlslangToSpv(*program.getIntermediate(language), words, &options);
  return words;
}

}  // namespace

GlslangPeer::GlslangPeer() { glslang::InitializeProcess(); }
GlslangPeer::~GlslangPeer() { glslang::FinalizeProcess(); }

std::vector<uint32_t> GlslangPeer::Compile(GlslStage stage, const std::string& text,
                                           const std::string& preamble) const {
  const EShLanguage language = stage == GlslStage::kVertex ? EShLangVertex : EShLangFragment;
  const auto messages = static_cast<EShMessages>(EShMsgSpvRules | EShMsgVulkanRules);
  glslang::TShader shader(language);
  const char* source = text.c_str();
  const int length = static_cast<int>(text.size());
  shader.setStringsWithLengths(&source, &length, 1);
  shader.setPreamble(preamble.c_str());
  shader.setEnvInput(glslang::EShSourceGlsl, language, glslang::EShClientVulkan, 100);
  shader.setEnvClient(glslang::EShClientVulkan, glslang::EShTargetVulkan_1_1);
  shader.setEnvTarget(glslang::EShTargetSpv, glslang::EShTargetSpv_1_3);
  if (!shader.parse(GetDefaultResources(), 450, false, messages)) {
    Fail(shader.getInfoLog());
  }
  return WordsOf(shader, language, messages);
}

std::vector<uint32_t> GlslangPeer::CompileHlsl(const std::string& text, const std::string& preamble,
                                               const std::string& entry) const {
  const auto messages =
      static_cast<EShMessages>(EShMsgSpvRules | EShMsgVulkanRules | EShMsgReadHlsl);
  glslang::TShader shader(EShLangFragment);
  const char* source = text.c_str();
  const int length = static_cast<int>(text.size());
  shader.setStringsWithLengths(&source, &length, 1);
  shader.setPreamble(preamble.c_str());
  shader.setEntryPoint(entry.c_str());
  shader.setSourceEntryPoint(entry.c_str());
  shader.setEnvInput(glslang::EShSourceHlsl, EShLangFragment, glslang::EShClientVulkan, 100);
  shader.setEnvClient(glslang::EShClientVulkan, glslang::EShTargetVulkan_1_1);
  shader.setEnvTarget(glslang::EShTargetSpv, glslang::EShTargetSpv_1_3);
  if (!shader.parse(GetDefaultResources(), 500, false, messages)) {
    Fail(shader.getInfoLog());
  }
  return WordsOf(shader, EShLangFragment, messages);
}

}  // namespace kiln::bench
