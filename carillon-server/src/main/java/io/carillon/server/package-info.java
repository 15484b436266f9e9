/**
 * The REST server for many projects. Start at {@link io.carillon.server.CarillonServer}. This package assembles its
 * subpackages and uses the library through its public API.
 */
@NullMarked
package io.carillon.server;

import org.jspecify.annotations.NullMarked;
