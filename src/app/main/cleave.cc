// The program `cleave`.
#include "app/commands/commands.h"

int main(int argc, char** argv) {
  cleave::app::Cli cli;
  cleave::app::add_commands(cli);
  return cli.run(argc, argv);
}
