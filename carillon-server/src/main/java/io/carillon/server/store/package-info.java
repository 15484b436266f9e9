/** The server's own tables: projects, keys, secrets, audit and answers already given. Speaks SQL; what concerns schedules and runs goes through the front door instead. */
@NullMarked
package io.carillon.server.store;

import org.jspecify.annotations.NullMarked;
