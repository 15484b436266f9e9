/**
 * A data directory: the files in and beside it, its settings, and the process that serves it. Internal: applications
 * use {@code EmbeddedPostgres}.
 */
@NullMarked
package io.carillon.embedded.internal.datadir;

import org.jspecify.annotations.NullMarked;
