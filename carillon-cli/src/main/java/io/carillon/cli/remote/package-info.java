/**
 * The commands that speak to a server: one class for each noun, one method for each verb. Start at {@link io.carillon.cli.remote.RemoteCommands}. They say
 * over HTTP what any other client could, and know nothing of a database, but for the doctor, who looks at one if asked to.
 */
@NullMarked
package io.carillon.cli.remote;

import org.jspecify.annotations.NullMarked;
