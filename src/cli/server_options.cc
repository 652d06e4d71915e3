// See server_options.h.
#include "cli/server_options.h"

namespace orrery::cli {

void add_server_options(CLI::App& command, ServerAddress& address) {
  command
      .add_option("--data", address.data,
                  "Data folder of the running server [./orrery-data; where there is none, that of "
                  "the installed server]")
      ->type_name("FOLDER");
  command
      .add_option("--host", address.host,
                  "Name or address of a server elsewhere, which must be in its certificate [the "
                  "server of the data folder]")
      ->type_name("NAME");
  command.add_option("--port", address.port, "Its port [found in the data folder]")
      ->type_name("PORT");
  command
      .add_option("--key", address.key,
                  "A read-write key; others on this machine can see it in a command line, so "
                  "rather set ORRERY_KEY [found in the data folder]")
      ->envname("ORRERY_KEY")
      ->type_name("KEY");
  command
      .add_option("--ca", address.ca,
                  "File of the certificates to trust (PEM), such as the server's own cert.pem "
                  "[the certificate in the data folder; with --host the system's]")
      ->type_name("FILE");
  command.footer(
      "It asks over https, and nothing before the server has shown a trusted certificate.");
}

}  // namespace orrery::cli
