/**
 * The options of the commands that use a server, and the JSON bodies that they become. Start at
 * {@link io.carillon.cli.remote.flags.ScheduleFlags}. Depends on the shell package and Jackson; does not depend
 * on the commands.
 */
@NullMarked
package io.carillon.cli.remote.flags;

import org.jspecify.annotations.NullMarked;
