/**
 * For every two writing statements on the same table, a test in which they meet on one row. Start at {@link
 * io.carillon.it.race.RaceTest}; a new statement needs a case here.
 */
package io.carillon.it.race;
