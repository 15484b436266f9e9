/**
 * The parts of the fault proxy that need no connection: messages of the PostgreSQL protocol, conditions of the
 * network, and the point of a fault. Internal: applications use {@code FaultProxy}.
 */
@NullMarked
package io.carillon.testkit.internal.proxy;

import org.jspecify.annotations.NullMarked;
