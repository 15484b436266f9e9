/**
 * The server as a process: a node and its REST API on an existing database, until a signal stops them in order. Start
 * at {@link io.carillon.cli.serve.ServerProcess}. Depends on the settings, the server and the public API.
 */
@NullMarked
package io.carillon.cli.serve;

import org.jspecify.annotations.NullMarked;
