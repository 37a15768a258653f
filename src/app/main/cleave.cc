// The program `cleave`.
#include "app/cli.h"

int main(int argc, char** argv) {
  cleave::app::Cli cli;
  cleave::app::add_up(cli);
  cleave::app::add_down(cli);
  cleave::app::add_serve(cli);
  cleave::app::add_status(cli);
  cleave::app::add_locate(cli);
  cleave::app::add_ring(cli);
  cleave::app::add_plan(cli);
  cleave::app::add_explain(cli);
  cleave::app::add_approve(cli);
  cleave::app::add_cut(cli);
  cleave::app::add_presplit(cli);
  cleave::app::add_move(cli);
  cleave::app::add_merge(cli);
  cleave::app::add_abort(cli);
  cleave::app::add_undo(cli);
  cleave::app::add_leftovers(cli);
  cleave::app::add_freeze(cli);
  cleave::app::add_resume(cli);
  cleave::app::add_downgrade(cli);
  cleave::app::add_mode(cli);
  cleave::app::add_node(cli);
  cleave::app::add_adopt(cli);
  cleave::app::add_strays(cli);
  cleave::app::add_flatten(cli);
  cleave::app::add_orders(cli);
  cleave::app::add_moves(cli);
  cleave::app::add_bench(cli);
  cleave::app::add_demo(cli);
  cleave::app::add_simulate(cli);
  cleave::app::add_assess(cli);
  cleave::app::add_import(cli);
  cleave::app::add_export(cli);
  return cli.run(argc, argv);
}
