// SPDX-License-Identifier: MIT
// `kiln token create`, `list` and `revoke` (spec/cli 6.12, spec/daemon 11). The work is that of
// kilnd: only it reads kilnd.toml and so knows where the file of tokens is. This command only
// passes the words on; a secret never goes through it.
#include "client/cli/daemon/token.h"

#include <string>
#include <utility>
#include <vector>

#include "client/cli/add_verb.h"
#include "client/cli/daemon/daemon_process.h"
#include "client/client.h"

namespace kiln::cli {
namespace {

using Words = std::vector<std::string>;

struct TokenArguments {
  std::string config;  // of the daemon
  std::string scope;   // create
  std::string expires, note, tenant;
  std::string id;  // revoke
};

// A token verb of kilnd for the daemon with this configuration (empty: the default one). kilnd is
// told what the daemon that runs reads, if one of this user does, and says if that differs. Words
// are passed as --name=value, one word each, so a value that begins with a dash is not taken for a
// flag.
int RunTokenVerb(const Global& global, const std::string& config, std::vector<std::string> words) {
  const auto add = [&words](const char* flag, const std::string& value) {
    if (!value.empty()) {
      words.push_back(flag + value);
    }
  };
  add("--config=", config);
  // A token in a file that the running daemon does not read would be refused later, and nobody
  // would know why.
  if (const std::string address = DaemonAddress(global); address.starts_with("unix:")) {
    if (const auto running = client::Client::Open(address)->Ping(client::kPing); running.ok()) {
      add("--running-tokens=", running->tokens_file);
      add("--running-config=", running->config_file);
    }
  }
  return RunKilnd(global, std::move(words));
}

}  // namespace

void AddToken(CLI::App& app, CommandLine& line) {
  const auto arguments = std::make_shared<TokenArguments>();
  CLI::App* token = AddGroup(app, "token", "Tokens of clients over TCP");
  token->add_option("--config", arguments->config,
                    "Configuration file of the daemon whose tokens they are");
  CLI::App* create =
      AddVerb(*token, line,
              {"create", "Make a token and print its secret, once",
               "  kiln token create --scope write --config /etc/kiln/kilnd.toml\n"
               "  kiln token create --scope read --expires 90d --note 'CI of branches'"},
              [&line, arguments] {
                Words words{"token", "create", "--scope=" + arguments->scope};
                for (const auto& [flag, value] : {std::pair{"--expires=", &arguments->expires},
                                                  std::pair{"--note=", &arguments->note},
                                                  std::pair{"--tenant=", &arguments->tenant}}) {
                  if (!value->empty()) {
                    words.push_back(flag + *value);
                  }
                }
                return RunTokenVerb(line.global, arguments->config, words);
              });
  create->add_option("--scope", arguments->scope, "What it may do")
      ->required()
      ->check(CLI::IsMember({"read", "write", "peer", "admin"}));
  create->add_option("--expires", arguments->expires,
                     "How long it is valid, such as 90d; default: for ever");
  create->add_option("--note", arguments->note, "Who has it");
  create->add_option("--tenant", arguments->tenant, "Whose share of the daemon it uses");
  AddVerb(
      *token, line,
      {"list", "Ids, scopes, expiry; never secrets", "  kiln token list\n  kiln token list --json"},
      [&line, arguments] {
        return RunTokenVerb(line.global, arguments->config, Words{"token", "list"});
      });
  CLI::App* revoke =
      AddVerb(*token, line,
              {"revoke", "Make a token invalid at once",
               "  kiln token revoke 0aef25953033d800\n  kiln token revoke 0aef25953033d800 --json"},
              [&line, arguments] {
                return RunTokenVerb(line.global, arguments->config,
                                    Words{"token", "revoke", arguments->id});
              });
  revoke->add_option("id", arguments->id, "As token list shows it")->required();
}

}  // namespace kiln::cli
