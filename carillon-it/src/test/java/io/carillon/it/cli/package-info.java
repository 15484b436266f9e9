/**
 * Tests of the {@code carillon} command, in this JVM against a running server or as a process.
 */
package io.carillon.it.cli;
