// SPDX-License-Identifier: MIT
// What this client needs to know of kilnd.toml, asked of kilnd. It costs a start of that program, a
// few milliseconds, and is therefore read once for each command that needs it.
#include "client/cli/daemon/daemon_config.h"

#include <algorithm>
#include <cstdio>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "client/autostart.h"
#include "client/cli/output/shell_word.h"
#include "client/cli/output/units.h"

namespace kiln::cli {

std::string DaemonConfig::Or(const std::string& key, const std::string& fallback) const {
  const auto found = values.find(key);
  return found == values.end() ? fallback : found->second;
}

// The daemon's configuration is read by the daemon itself: its rules, defaults and errors are in
// one place, and this side reads a table. The exit status of the shell tells whether the command
// ran. popen starts a shell, so the caller must quote each word (ShellWord). "e" closes the pipe in
// other children.
std::optional<std::string> OutputOf(const std::string& command) {
  std::FILE* const pipe = ::popen(command.c_str(), "re");
  if (pipe == nullptr) {
    return std::nullopt;
  }
  std::string text;
  char buffer[4096];
  for (size_t count = 0; (count = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;) {
    text.append(buffer, count);
  }
  return ::pclose(pipe) == 0 ? std::optional(text) : std::nullopt;
}

// A line that is no JSON is skipped. Without any line the table is empty, and whoever needs a key
// says that kilnd does not tell it.
DaemonConfig ReadDaemonConfig() {
  DaemonConfig config;
  const auto text =
      // "; true" keeps the output of a configuration with an error, of which the table has the
      // message.
      OutputOf(ShellWord(client::DaemonProgram()) + " config show --json 2>/dev/null; true");
  for (size_t at = 0; text.has_value() && at < text->size();) {
    const size_t end = std::min(text->find('\n', at), text->size());
    const auto line = nlohmann::json::parse(text->substr(at, end - at), nullptr, false);
    at = end + 1;
    if (line.is_object() && line.value("type", "") == "config") {
      config.values[line.value("key", "")] = line.value("value", "");
    } else if (line.is_object() && line.value("type", "") == "error") {
      config.error = line.value("message", "");
    }
  }
  return config;
}

Result<uint64_t> ConfiguredSize(const DaemonConfig& config, const std::string& key) {
  std::string text = config.Or(key, "");
  const bool unit =
      !text.empty() && std::string_view("KMGT").find(text.back()) != std::string_view::npos;
  text += unit ? "B" : "";  // kilnd writes 20G
  const Result<uint64_t> size = ParseSize(text);
  return size.ok()
             ? size
             : Error{.code = ErrorCode::kUnavailable,
                     .context = fmt::format("'{}' does not tell {}{}{}", client::DaemonProgram(),
                                            key, config.error.empty() ? "" : ": ", config.error),
                     .reason = "DAEMON_UNREACHABLE"};
}

}  // namespace kiln::cli
