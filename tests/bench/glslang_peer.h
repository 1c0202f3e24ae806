// SPDX-License-Identifier: MIT
// glslang in process, warm: the peer of the variant benchmark. GLSL text + macros -> SPIR-V 1.3.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace kiln::bench {

enum class GlslStage : uint8_t { kVertex, kFragment };

class GlslangPeer {
 public:
  GlslangPeer();  // builds glslang's symbol tables, which no measurement should contain
  ~GlslangPeer();
  GlslangPeer(const GlslangPeer&) = delete;
  GlslangPeer& operator=(const GlslangPeer&) = delete;

  // Words of one module with names, without optimisation. Ends the program on an error: the shader
  // is fixed.
  std::vector<uint32_t> Compile(GlslStage stage, const std::string& text,
                                const std::string& preamble) const;
  // The same of a fragment stage in HLSL, by glslang's reader of that.
  std::vector<uint32_t> CompileHlsl(const std::string& text, const std::string& preamble,
                                    const std::string& entry) const;
};

}  // namespace kiln::bench
