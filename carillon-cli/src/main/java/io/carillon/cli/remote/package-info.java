/**
 * The commands that use a server: one class per command group, one method per subcommand. Start at {@link
 * io.carillon.cli.remote.RemoteCommands}. They use the REST API like any other client. Only {@code carillon doctor}
 * connects to a database, if the caller gives one.
 */
@NullMarked
package io.carillon.cli.remote;

import org.jspecify.annotations.NullMarked;
