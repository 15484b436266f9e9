/** Who calls: keys, tokens of others, and how often they may. Knows the HTTP kit and the server's tables, nothing of schedules and runs. */
@NullMarked
package io.carillon.server.access;

import org.jspecify.annotations.NullMarked;
