/** Texts that several statements share. */
@NullMarked
package io.carillon.postgres.sql;

import org.jspecify.annotations.NullMarked;
