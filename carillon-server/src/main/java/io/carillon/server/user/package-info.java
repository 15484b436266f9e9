/**
 * Users over REST: their sessions, and the members of projects. Start at {@link io.carillon.server.user.MemberRoutes}.
 * Must not depend on schedules or runs.
 */
@NullMarked
package io.carillon.server.user;

import org.jspecify.annotations.NullMarked;
