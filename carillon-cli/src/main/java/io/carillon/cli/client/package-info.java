/**
 * The way to a server: its address and key from flags, the environment or a profile, requests over HTTP, and what went wrong in words. Start at
 * {@link io.carillon.cli.client.Client}. Knows no command.
 */
@NullMarked
package io.carillon.cli.client;

import org.jspecify.annotations.NullMarked;
