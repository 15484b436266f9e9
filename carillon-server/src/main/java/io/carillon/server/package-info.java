/** The server: REST over the front door, for many projects. Start at {@link io.carillon.server.CarillonServer}. */
@NullMarked
package io.carillon.server;

import org.jspecify.annotations.NullMarked;
