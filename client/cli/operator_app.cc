// SPDX-License-Identifier: MIT
#include "client/cli/operator_app.h"

namespace kiln::cli {
namespace {

using Words = std::vector<std::string>;

void AddLife(CLI::App& app, const Global& global, OperatorArguments& a, Action& chosen) {
  CLI::App* status = AddVerb(app, "status", "Daemon, queue, batches, cache, health",
                             "  kiln status\n  kiln status --jobs --json", chosen,
                             [&] { return RunStatus(global, a.status); });
  status->add_flag("--watch", a.status.watch, "Again every second");
  status->add_flag("--jobs", a.status.jobs, "And what is queued or runs");
  status->add_option("--trace", a.status.trace, "What the calls of this trace id did");
  CLI::App* doctor = AddVerb(app, "doctor", "Check the installation and say what to do",
                             "  kiln doctor\n  kiln doctor --bundle report.json", chosen,
                             [&] { return RunDoctor(global, a.doctor); });
  doctor->add_option("--bundle", a.doctor.bundle, "Write log, configuration and figures to a file");
  CLI::App* serve = AddVerb(app, "serve", "Run the daemon in the foreground",
                            "  kiln serve\n  kiln serve -- --metrics.listen 127.0.0.1:9464", chosen,
                            [&] { return RunServe(global, a.serve); });
  serve->allow_extras()->add_option("flags", a.serve, "Flags of kilnd, after --");
  AddVerb(app, "start", "Start the daemon in the background", "  kiln start", chosen,
          [&] { return RunStart(global); });
  CLI::App* stop =
      AddVerb(app, "stop", "Finish running work, then end the daemon",
              "  kiln stop\n  kiln stop --now", chosen, [&] { return RunStop(global, a.now); });
  stop->add_flag("--now", a.now, "Do not wait; nothing acknowledged is lost");
}

void AddConfig(CLI::App& app, const Global& global, OperatorArguments& a, Action& chosen) {
  CLI::App* config = app.add_subcommand("config", "The configuration of the daemon");
  config->fallthrough()->require_subcommand(1);
  CLI::App* show = AddVerb(*config, "show", "Every key and the value in force",
                           "  kiln config show\n  kiln config show --origin", chosen, [&] {
                             Words words{"config", "show"};
                             if (a.origin) {
                               words.emplace_back("--origin");
                             }
                             return RunKilnd(global, words);
                           });
  show->add_flag("--origin", a.origin, "And where each value comes from");
  CLI::App* check = AddVerb(*config, "check", "Read a file and say what is wrong with it",
                            "  kiln config check /etc/kiln/kilnd.toml", chosen, [&] {
                              return RunKilnd(global, Words{"config", "check", a.file});
                            });
  check->add_option("file", a.file, "Configuration file")->required();
}

void AddToken(CLI::App& app, const Global& global, OperatorArguments& a, Action& chosen) {
  CLI::App* token = app.add_subcommand("token", "Tokens of clients over TCP");
  token->fallthrough()->require_subcommand(1);
  CLI::App* create = AddVerb(
      *token, "create", "Make a token and print its secret, once",
      "  kiln token create --scope read --expires 90d --note 'CI of branches'", chosen, [&] {
        Words words{"token", "create", "--scope=" + a.scope};
        for (const auto& [flag, value] :
             {std::pair{"--expires=", &a.expires}, std::pair{"--note=", &a.note},
              std::pair{"--tenant=", &a.tenant}}) {
          if (!value->empty()) {
            words.push_back(flag + *value);
          }
        }
        return RunKilnd(global, words);
      });
  create->add_option("--scope", a.scope, "What it may do")
      ->required()
      ->check(CLI::IsMember({"read", "write", "admin"}));
  create->add_option("--expires", a.expires,
                     "How long it is valid, such as 90d; default: for ever");
  create->add_option("--note", a.note, "Who has it");
  create->add_option("--tenant", a.tenant, "Whose share of the daemon it uses");
  AddVerb(*token, "list", "Ids, scopes, expiry; never secrets", "  kiln token list", chosen, [&] {
    return RunKilnd(global, Words{"token", "list"});
  });
  CLI::App* revoke = AddVerb(*token, "revoke", "Make a token invalid at once",
                             "  kiln token revoke 0aef25953033d800", chosen, [&] {
                               return RunKilnd(global, Words{"token", "revoke", a.id});
                             });
  revoke->add_option("id", a.id, "As token list shows it")->required();
}

}  // namespace

void AddOperator(CLI::App& app, const Global& global, OperatorArguments& arguments,
                 Action& chosen) {
  AddLife(app, global, arguments, chosen);
  AddConfig(app, global, arguments, chosen);
  AddToken(app, global, arguments, chosen);
}

}  // namespace kiln::cli
