// SPDX-License-Identifier: MIT
// What tests of sampled images share: textures and samplers that exist on the device and for the
// interpreter alike.
#pragma once

#include "runtime/preview/target.h"
#include "runtime/vk/unique.h"
#include "tests/oracle/operator_fixture.h"
#include "tests/support/texture.h"

namespace kiln::oracle {

class TextureFixture : public OperatorFixture {
 protected:
  void TearDown() override;

  void Add(const std::string& name, Texture texture);
  void Add(const std::string& name, const SamplerState& sampler);

  // Runs a probe behind "rpl 2;" with everything that was added. Nothing may be open.
  void AgreeOnProbe(const std::string& declarations, const std::string& statements,
                    const Samples& samples);

  const preview::ResourceTable& resources() const { return resources_; }
  const TextureTable& table() const { return table_; }

 private:
  TextureTable table_;
  preview::ResourceTable resources_;
  std::vector<preview::Target> images_;
  std::vector<vk::UniqueSampler> samplers_;
};

// "set_material image_color_2d_array stack;"
std::string DeclarationOf(const Texture& texture, std::string_view name);

}  // namespace kiln::oracle
