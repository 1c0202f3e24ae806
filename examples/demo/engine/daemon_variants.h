// SPDX-License-Identifier: MIT
// Variants from a daemon: what the scene needs arrives over one stream before the first frame, and
// is compiled there if nobody has it yet. No pack, no files of variants. See spec/pso 9.6
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>

#include "client/startup_fetch.h"
#include "examples/demo/engine/variants.h"

namespace kiln::demo {

struct DaemonRequest {
  std::string socket;    // empty: the user's
  std::string manifest;  // kiln.toml with the programs; empty: the nearest one
  std::function<void(const client::StartupProgress&)> on_progress;
};

class DaemonVariants final : public VariantSource {
 public:
  // Starts the daemon if nobody answers, uploads the sources of the programs that are needed, and
  // fetches every variant of `wanted`.
  // Errors: kNotFound for a manifest, a source or a program that is not there; kInvalidArgument
  //         with the first message for sources that are wrong; those of Connect and StartupFetch.
  static Result<DaemonVariants> Fetch(std::span<const VariantRequest> wanted,
                                      const DaemonRequest& request);
  Result<VariantCode> Get(const VariantRequest& request) override;

  const client::StartupReport& report() const { return report_; }

 private:
  DaemonVariants(std::shared_ptr<const runtime::ArtifactSource> source,
                 client::StartupReport report)
      : source_(std::move(source)), report_(std::move(report)) {}

  std::shared_ptr<const runtime::ArtifactSource> source_;
  client::StartupReport report_;
};

}  // namespace kiln::demo
