/**
 * {@code carillon dev}: a node on its own database, three demo schedules, and a live view of their runs. Start
 * at {@link io.carillon.cli.dev.DevNode}. Uses the public API and a listener like any other application, and
 * reads no tables.
 */
@NullMarked
package io.carillon.cli.dev;

import org.jspecify.annotations.NullMarked;
