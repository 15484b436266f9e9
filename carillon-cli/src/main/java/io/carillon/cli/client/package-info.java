/**
 * The connection to a server: its address and API key from options, the environment or a profile, HTTP requests, and
 * error messages. Start at {@link io.carillon.cli.client.ApiClient}. Depends on the shell package and Jackson, not on
 * the commands.
 */
@NullMarked
package io.carillon.cli.client;

import org.jspecify.annotations.NullMarked;
