/**
 * Basic types that all packages use: names, public ids, cleaned text, durations, clocks, virtual
 * threads. Depends on the JDK only.
 */
@NullMarked
package io.carillon.internal.value;

import org.jspecify.annotations.NullMarked;
