#include <algorithm>
#include <iostream>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "app/commands/order_commands.h"
#include "app/config/place.h"
#include "app/text/plan_text.h"
#include "app/text/stray_text.h"
#include "app/times.h"
#include "base/check.h"
#include "base/result.h"
#include "net/url.h"

namespace cleave::app {
namespace {

// What a person can say with an order; each order declares its own part of it.
struct OrderWords {
  std::uint64_t id = 0;  // of a move
  std::string plan;
  std::string key;
  std::string at;  // a key or a token
  std::string range;
  std::string to;
  std::string mode;
  std::string name;  // of a node
  std::vector<std::string> members;
  std::uint32_t weight = 1;
  std::string hash_key;
  std::string pin;  // for how long
  std::string reason;
  bool all = false;
  bool force = false;
  bool abort = false;
};

struct OrderRequest {
  bool remove = false;  // DELETE in place of POST
  std::string target;
  Json body = Json::object();
};

struct OrderCommand {
  const char* group;  // the word before its name; "": none
  const char* name;
  const char* description;
  const char* example;
  void (*declare)(CLI::App& command, OrderWords& words);
  // Errors: what a person wrote cannot be meant.
  Result<OrderRequest> (*request)(const OrderWords& words);
  void (*print)(const Cli& cli, const OrderWords& words, const Json& answer);
};

Json range_json(const ring::TokenRange& range) {
  return {{"first", ring::to_hex(range.first)}, {"last", ring::to_hex(range.last)}};
}

std::string move_path(std::uint64_t id, const char* order) {
  return "/moves/" + std::to_string(id) + order;
}

std::string node_path(const OrderWords& words, const char* order) {
  return "/nodes/" + net::encode_component(words.name) + order;
}

void declare_nothing(CLI::App& /*command*/, OrderWords& /*words*/) {}

void declare_name(CLI::App& command, OrderWords& words) {
  command.add_option("NAME", words.name)->required();
}

CLI::Option* declare_weight(CLI::App& command, const char* option, OrderWords& words) {
  return command.add_option(option, words.weight, "its share beside the others'")
      ->check(CLI::Range(1, 1'000));
}

void print_begun_move(const Cli& /*cli*/, const OrderWords& /*words*/, const Json& answer) {
  print_begun(answer);
}

// ---- moves ----

void declare_move(CLI::App& command, OrderWords& words) {
  CLI::Option_group* what = command.add_option_group("what", "what to move");
  what->add_option("--range", words.range, "FIRST-LAST, two tokens, both inside");
  what->add_option("--key", words.key,
                   "a key, as it is shown (\\xNN is a byte); all with its token goes along");
  what->require_option(1);
  command.add_option("--to", words.to, "the node that shall own it")->required();
  command.add_option("--reason", words.reason, "why, for the record");
}

Result<OrderRequest> move_request(const OrderWords& words) {
  Json body = {{"to", words.to}};
  if (!words.reason.empty()) body["reason"] = words.reason;
  if (words.range.empty()) {
    body["key"] = words.key;
  } else {
    const Result<ring::TokenRange> range = parse_range(words.range);
    if (!range) return std::unexpected(range.error());
    body["ranges"] = Json::array({range_json(*range)});
  }
  return OrderRequest{.target = "/moves", .body = std::move(body)};
}

void declare_undo(CLI::App& command, OrderWords& words) {
  command.add_option("ID", words.id, "the move, as `cleave moves` shows it");
  command.add_option("--range", words.range,
                     "the newest move that moved all of FIRST-LAST, as `cleave moves` shows it");
}

Result<OrderRequest> undo_request(const OrderWords& words) {
  if (words.range.empty() == (words.id == 0))
    return fail(Code::kInvalid, "want either a move's ID or --range");
  if (words.range.empty()) return OrderRequest{.target = move_path(words.id, "/undo")};
  const Result<ring::TokenRange> range = parse_range(words.range);
  if (!range) return std::unexpected(range.error());
  return OrderRequest{.target = "/moves/undo",
                      .body = {{"ranges", Json::array({range_json(*range)})}}};
}

void declare_abort(CLI::App& command, OrderWords& words) {
  command.add_option("ID", words.id, "the move, as `cleave status` shows it");
  command.add_flag("--all", words.all, "every move that is under way and not committed");
}

Result<OrderRequest> abort_request(const OrderWords& words) {
  if (words.all == (words.id != 0)) return fail(Code::kInvalid, "want either a move's ID or --all");
  return OrderRequest{.target = words.all ? "/moves/abort" : move_path(words.id, "/abort")};
}

void print_aborted(const Cli& /*cli*/, const OrderWords& words, const Json& answer) {
  if (words.all) {
    std::cout << answer["moves"] << " moves aborted\n";
  } else {
    std::cout << "aborted\n";
  }
}

// ---- boundaries ----

void declare_cut(CLI::App& command, OrderWords& words) {
  command
      .add_option("--at", words.at, "a key (as it is shown: \\xNN is a byte), or a token as 0x...")
      ->required();
  command.add_option("--pin", words.pin, "keep it at least so long (2h, 1d): it is not merged");
  command.add_option("--reason", words.reason, "why, for the record");
}

Result<OrderRequest> cut_request(const OrderWords& words) {
  Json body;
  const auto token = as_token(words.at);
  if (!token) return fail(Code::kInvalid, "--at: " + token.error().message);
  if (*token) {
    body["at"] = ring::to_hex(**token);
  } else {
    body["key"] = words.at;
  }
  if (!words.pin.empty()) {
    const Result<milliseconds> pin = parse_duration(words.pin);
    if (!pin) return fail(Code::kInvalid, "--pin: " + pin.error().message);
    body["pinned_until_ms"] = SystemClock().wall_now().value() + pin->count();
  }
  if (!words.reason.empty()) body["reason"] = words.reason;
  return OrderRequest{.target = "/cuts", .body = std::move(body)};
}

void declare_merge(CLI::App& command, OrderWords& words) {
  words.range = "0-ffffffffffffffff";
  command.add_option("--range", words.range, "where; everywhere if left out");
}

Result<OrderRequest> merge_request(const OrderWords& words) {
  const Result<ring::TokenRange> range = parse_range(words.range);
  if (!range) return std::unexpected(range.error());
  return OrderRequest{.target = "/merges", .body = {{"range", range_json(*range)}}};
}

// ---- what the balancer may do ----

void declare_mode(CLI::App& command, OrderWords& words) {
  command.add_option("MODE", words.mode, "observe, approve or auto")
      ->required()
      ->check(CLI::IsMember({"observe", "approve", "auto"}));
}

void print_frozen(const Cli& /*cli*/, const OrderWords& /*words*/, const Json& answer) {
  std::cout << "frozen: no move will begin until `cleave resume`";
  if (answer.contains("moves")) std::cout << "; " << answer["moves"] << " aborted";
  std::cout << "\n";
}

void print_resumed(const Cli& cli, const OrderWords& /*words*/, const Json& /*answer*/) {
  std::cout << "resumed";
  if (const AdminClient::Answer now = cli.client().get("/status"); now) {
    const std::string mode = now->value("mode", "");
    std::cout << "; mode is " << mode;
    if (mode != "auto") std::cout << ": nothing moves by itself, see `cleave mode auto`";
  }
  std::cout << "\n";
}

// ---- nodes ----

void declare_node_add(CLI::App& command, OrderWords& words) {
  declare_name(command, words);
  command.add_option("ADDRESS", words.members, "the primary first, then replicas")->required();
  declare_weight(command, "--weight", words)->capture_default_str();
  command.add_option("--hash-key", words.hash_key, "what the scheme hashes in place of the name");
  command.add_flag("--force", words.force, "also a server that does not answer now");
}

Result<OrderRequest> node_add_request(const OrderWords& words) {
  return OrderRequest{.target = "/nodes",
                      .body = {{"name", words.name},
                               {"members", words.members},
                               {"weight", words.weight},
                               {"hash_key", words.hash_key},
                               {"force", words.force}}};
}

void print_draining(const Cli& /*cli*/, const OrderWords& words, const Json& answer) {
  std::cout << words.name << " drains; remove it when it owns nothing\n";
  if (!answer.contains("left_behind")) return;
  const Json& strays = answer["left_behind"];
  if (strays.value("seen", std::uint64_t{0}) == 0) return;
  std::cout << "what will be left behind: " << stray_text(strays) << "\n";
}

constexpr OrderCommand kOrders[] = {
    {.group = "",
     .name = "move",
     .description = "move a range, or all keys of one token, live",
     .example = "cleave move --range 0x10-0x1fff --to b",
     .declare = declare_move,
     .request = move_request,
     .print = print_begun_move},
    {.group = "",
     .name = "undo",
     .description = "move the ranges of a finished move back",
     .example = "cleave undo 17",
     .declare = declare_undo,
     .request = undo_request,
     .print = print_begun_move},
    {.group = "",
     .name = "abort",
     .description = "take back a move that is under way: the source keeps the range",
     .example = "cleave abort 17",
     .declare = declare_abort,
     .request = abort_request,
     .print = print_aborted},
    {.group = "",
     .name = "cut",
     .description = "lay a boundary: the range that ends there becomes a cut of its owner",
     .example = "cleave cut --at user:1000",
     .declare = declare_cut,
     .request = cut_request,
     .print =
         [](const Cli&, const OrderWords& words, const Json&) {
           std::cout << "cut at " << words.at << "; the owner is the same, no key moves\n";
         }},
    {.group = "",
     .name = "merge",
     .description = "take away boundaries that no longer matter; owners stay the same",
     .example = "cleave merge --range 0x0-0x7fffffffffffffff",
     .declare = declare_merge,
     .request = merge_request,
     .print = [](const Cli&, const OrderWords&,
                 const Json&) { std::cout << "merged; every key stays where it is\n"; }},
    {.group = "",
     .name = "mode",
     .description = "what the balancer may do: observe (only tell), approve (ask), auto",
     .example = "cleave mode observe",
     .declare = declare_mode,
     .request = [](const OrderWords& words) -> Result<OrderRequest> {
       return OrderRequest{.target = "/mode", .body = {{"mode", words.mode}}};
     },
     .print = [](const Cli&, const OrderWords& words,
                 const Json&) { std::cout << "mode " << words.mode << "\n"; }},
    {.group = "",
     .name = "freeze",
     .description = "let no move begin; those under way go on, unless --abort takes them back",
     .example = "cleave freeze --abort",
     .declare =
         [](CLI::App& command, OrderWords& words) {
           command.add_flag("--abort", words.abort, "abort what is under way and not committed");
         },
     .request = [](const OrderWords& words) -> Result<OrderRequest> {
       return OrderRequest{.target = "/freeze",
                           .body = words.abort ? Json{{"abort", true}} : Json::object()};
     },
     .print = print_frozen},
    {.group = "",
     .name = "resume",
     .description = "let moves begin again",
     .example = "cleave resume",
     .declare = declare_nothing,
     .request = [](const OrderWords&) -> Result<OrderRequest> {
       return OrderRequest{.target = "/resume"};
     },
     .print = print_resumed},
    {.group = "",
     .name = "downgrade",
     .description = "let routers of an older version join: no move begins until `cleave resume`",
     .example = "cleave downgrade",
     .declare = declare_nothing,
     .request = [](const OrderWords&) -> Result<OrderRequest> {
       return OrderRequest{.target = "/downgrade"};
     },
     .print =
         [](const Cli&, const OrderWords&, const Json&) {
           std::cout << "no move begins; older routers can join once `cleave leftovers` is empty\n";
         }},
    {.group = "",
     .name = "flatten",
     .description = "take every cut back, live: the way out of cleave's placement",
     .example = "cleave flatten",
     .declare = declare_nothing,
     .request = [](const OrderWords&) -> Result<OrderRequest> {
       return OrderRequest{.target = "/flatten"};
     },
     .print =
         [](const Cli&, const OrderWords&, const Json& answer) {
           std::cout << answer["ranges"]
                     << " ranges will move; see `cleave status`. The mode is observe: nothing "
                        "else moves by itself. `cleave resume` ends this, then `cleave mode auto` "
                        "balances again\n";
         }},
    {.group = "node",
     .name = "add",
     .description = "a node joins; ranges move to it live, in stages",
     .example = "cleave node add e 127.0.0.1:7005",
     .declare = declare_node_add,
     .request = node_add_request,
     .print =
         [](const Cli&, const OrderWords& words, const Json&) {
           std::cout << words.name << " joined; mark its server with `cleave adopt` if it is not "
                     << "yours yet\n";
         }},
    {.group = "node",
     .name = "drain",
     .description = "a node shall leave; its ranges move away live, in stages",
     .example = "cleave node drain b",
     .declare = declare_name,
     .request = [](const OrderWords& words) -> Result<OrderRequest> {
       return OrderRequest{.target = node_path(words, "/drain")};
     },
     .print = print_draining},
    {.group = "node",
     .name = "undrain",
     .description = "take a drain back: the node stays, and gets its share again",
     .example = "cleave node undrain b",
     .declare = declare_name,
     .request = [](const OrderWords& words) -> Result<OrderRequest> {
       return OrderRequest{.target = node_path(words, "/undrain")};
     },
     .print = [](const Cli&, const OrderWords& words,
                 const Json&) { std::cout << words.name << " stays\n"; }},
    {.group = "node",
     .name = "weight",
     .description = "change a node's share; ranges move live, in stages",
     .example = "cleave node weight b 2",
     .declare =
         [](CLI::App& command, OrderWords& words) {
           declare_name(command, words);
           declare_weight(command, "WEIGHT", words)->required();
         },
     .request = [](const OrderWords& words) -> Result<OrderRequest> {
       return OrderRequest{.target = node_path(words, "/weight"),
                           .body = {{"weight", words.weight}}};
     },
     .print =
         [](const Cli&, const OrderWords& words, const Json&) {
           std::cout << words.name << " has weight " << words.weight << "\n";
         }},
    {.group = "node",
     .name = "remove",
     .description = "forget a node that owns nothing any more, unless keys are left there",
     .example = "cleave node remove b",
     .declare =
         [](CLI::App& command, OrderWords& words) {
           declare_name(command, words);
           command.add_flag("--force", words.force,
                            "also with keys on its server, which nobody looks for");
         },
     .request = [](const OrderWords& words) -> Result<OrderRequest> {
       return OrderRequest{.remove = true, .target = node_path(words, words.force ? "?force" : "")};
     },
     .print = [](const Cli&, const OrderWords& words,
                 const Json&) { std::cout << words.name << " is gone\n"; }},
};

int give_order(const Cli& cli, const OrderCommand& order, const OrderWords& words) {
  const Result<OrderRequest> request = order.request(words);
  if (!request) return cli.fail(kExitUsage, request.error());
  const AdminClient client = cli.client();
  const AdminClient::Answer answer = request->remove ? client.remove(request->target)
                                                     : client.post(request->target, request->body);
  return cli.show(answer, [&](const Json& json) { order.print(cli, words, json); });
}

void add(Cli& cli, CLI::App& parent, const OrderCommand& order) {
  const auto words = std::make_shared<OrderWords>();
  CLI::App& command = cli.add_remote(
      parent, {.name = order.name, .description = order.description, .example = order.example},
      [&cli, &order, words] { return give_order(cli, order, *words); });
  order.declare(command, *words);
}

}  // namespace

void add_order(Cli& cli, std::string_view name) {
  const auto* const order = std::ranges::find_if(kOrders, [&](const OrderCommand& each) {
    return std::string_view(each.group).empty() && name == each.name;
  });
  CHECK(order != std::end(kOrders));
  add(cli, cli.root(), *order);
}

void add_orders_of(Cli& cli, const std::string& group, const std::string& description) {
  CLI::App& parent = cli.add_group(group, description);
  for (const OrderCommand& order : kOrders) {
    if (group == order.group) add(cli, parent, order);
  }
}

}  // namespace cleave::app
