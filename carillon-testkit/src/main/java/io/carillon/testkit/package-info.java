/**
 * The test kit for applications and for Carillon itself, on a real PostgreSQL server: a database for each test class, a
 * clock that tests control, a proxy that breaks the network, and nodes in processes that can be killed. Start at {@link
 * io.carillon.testkit.CarillonTest}. Contains no mocks, and must not be used in production.
 */
@NullMarked
package io.carillon.testkit;

import org.jspecify.annotations.NullMarked;
