/**
 * {@code carillon dev}: a node on a database of its own, three demo schedules, and a view of what they do. Start at {@link io.carillon.cli.dev.Dev}.
 * It is an application like any other: what it shows comes from the front door and from a listener, never from tables.
 */
@NullMarked
package io.carillon.cli.dev;

import org.jspecify.annotations.NullMarked;
