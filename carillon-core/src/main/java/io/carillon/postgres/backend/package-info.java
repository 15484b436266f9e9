/** What stands between a connection and the server. Start at {@link io.carillon.postgres.backend.Backend}. */
@NullMarked
package io.carillon.postgres.backend;

import org.jspecify.annotations.NullMarked;
