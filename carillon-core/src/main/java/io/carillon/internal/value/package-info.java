/**
 * Basic types that all packages use: names, public ids, cleaned text, durations, dates, clocks, virtual threads.
 * Depends on the JDK and the errors of the API only.
 */
@NullMarked
package io.carillon.internal.value;

import org.jspecify.annotations.NullMarked;
