/**
 * The SQL that several statements share: the inserts of runs and of history rows. Start at {@link
 * io.carillon.internal.postgres.sql.RunInsert}. Depends on the JDK only.
 */
@NullMarked
package io.carillon.internal.postgres.sql;

import org.jspecify.annotations.NullMarked;
