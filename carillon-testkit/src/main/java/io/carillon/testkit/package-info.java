/**
 * What users and we test with, always on a real PostgreSQL: a database for each test class, a clock to move, a network that breaks and nodes that
 * die. Start at {@link io.carillon.testkit.CarillonTest}. Nothing here is a mock, and nothing here belongs into production.
 */
@NullMarked
package io.carillon.testkit;

import org.jspecify.annotations.NullMarked;
