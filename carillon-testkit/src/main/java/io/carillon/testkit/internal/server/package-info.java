/**
 * The PostgreSQL server of this JVM, pools of connections to it, and the execution of statements. Internal:
 * applications use {@code TestDatabase}.
 */
@NullMarked
package io.carillon.testkit.internal.server;

import org.jspecify.annotations.NullMarked;
