/**
 * Tests of the script {@code ./carillon}.
 */
package io.carillon.it.launcher;
