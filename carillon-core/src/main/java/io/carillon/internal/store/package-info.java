/**
 * The ports between the engine and its storage: small interfaces and the records that they use. Start at {@link
 * io.carillon.internal.store.run.RunStore}. Depends on the values only; contains no SQL and no threads. Another storage
 * is correct if it passes the same contract tests.
 */
@NullMarked
package io.carillon.internal.store;

import org.jspecify.annotations.NullMarked;
