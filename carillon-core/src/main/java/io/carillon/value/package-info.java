/**
 * Basic types that all packages use: names, public ids, cleaned text, durations, clocks, and the exception with its
 * error codes. Depends on the JDK only.
 */
@NullMarked
package io.carillon.value;

import org.jspecify.annotations.NullMarked;
